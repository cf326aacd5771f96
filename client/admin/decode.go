package admin

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decode fills the fields of the struct that into points at which have a stat tag,
// the statistic's name and perhaps a duration's unit:
//
//	Paused time.Duration `stat:"time_in_listen_disabled_us,us"`
//
// What raw does not have leaves its field zero, and so does what can't be read as
// the field's type; the names of the latter are returned.
func decode(raw map[string]string, into any) (bad []string) {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("stat")
		if !ok {
			continue
		}
		name, unit, _ := strings.Cut(tag, ",")
		if s, ok := raw[name]; ok && !setField(v.Field(i), s, unit) {
			bad = append(bad, name)
		}
	}
	return bad
}

// setField reads s as what the field is.
func setField(f reflect.Value, s, unit string) bool {
	switch p := f.Addr().Interface().(type) {
	case *time.Duration:
		return setDuration(p, s, unit)
	case *time.Time:
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil {
			*p = time.Unix(n, 0)
		}
		return err == nil
	case *bool:
		switch s {
		case "yes", "on", "1", "true", "enabled":
			*p = true
		case "no", "off", "0", "false", "disabled":
		default:
			return false
		}
		return true
	case *string:
		if s != "NULL" && s != "(null)" { // what C says of a string that is not set
			*p = s
		}
		return true
	case *float64:
		n, err := strconv.ParseFloat(s, 64)
		if err == nil {
			*p = n
		}
		return err == nil
	case *int:
		n, err := strconv.Atoi(s)
		if err == nil {
			*p = n
		}
		return err == nil
	case *uint64:
		n, err := strconv.ParseUint(s, 10, 64)
		if err == nil {
			*p = n
		}
		return err == nil
	}
	panic("admin: no statistic has the type " + f.Type().String())
}

// setDuration reads whole numbers of the unit, seconds if it is none, and of
// seconds fractions as well.
func setDuration(p *time.Duration, s, unit string) bool {
	of := time.Second
	if unit == "us" {
		of = time.Microsecond
	}
	if strings.Contains(s, ".") {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || n < 0 || n > float64(1<<62)/float64(of) {
			return false
		}
		*p = time.Duration(n * float64(of))
		return true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < -int64(1<<62)/int64(of) || n > int64(1<<62)/int64(of) {
		return false
	}
	*p = time.Duration(n) * of
	return true
}

// numbered splits statistics named <prefix><number>:<name> by their number, and
// returns the numbers in order. Others are left out.
func numbered(raw map[string]string, prefix string) (numbers []int, by map[int]map[string]string) {
	by = make(map[int]map[string]string)
	for k, v := range raw {
		k, ok := strings.CutPrefix(k, prefix)
		number, name, ok2 := strings.Cut(k, ":")
		n, err := strconv.Atoi(number)
		if !ok || !ok2 || err != nil {
			continue
		}
		if by[n] == nil {
			by[n] = make(map[string]string)
		}
		by[n][name] = v
	}
	return slices.Sorted(maps.Keys(by)), by
}
