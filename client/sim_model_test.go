package client_test

import (
	"fmt"
	"math"
	"sync"
)

// simModel knows what each key may hold. It is told when a change was asked
// for and what came of it, in logical time; a change whose outcome is unknown
// may take effect at any time after.
type simModel struct {
	mu   sync.Mutex
	keys map[string][]*simChange
	cas  map[string]bool // key and CAS value of each swap that succeeded
}

type simKind uint8

const (
	simStores  simKind = iota // replaces the value
	simAppends                // adds a record
	simRemoves
)

type simChange struct {
	id      uint64
	kind    simKind
	invoked int64
	ended   int64 // by then it had taken effect, if it has; for ever if unknown
	effect  simEffect
}

type simEffect uint8

const (
	simMaybe simEffect = iota
	simSure
	simNone
)

func newSimModel() *simModel {
	return &simModel{keys: make(map[string][]*simChange), cas: make(map[string]bool)}
}

// begin notes a change that is about to be asked for.
func (m *simModel) begin(key string, kind simKind, id uint64, now int64) *simChange {
	c := &simChange{id: id, kind: kind, invoked: now, ended: math.MaxInt64}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[key] = append(m.keys[key], c)
	return c
}

func (m *simModel) end(c *simChange, effect simEffect, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.effect = effect; effect == simSure {
		c.ended = now
	}
}

// swapped notes a successful compare and swap; each version can be swapped once.
func (m *simModel) swapped(key string, cas uint64) (again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := fmt.Sprint(key, "#", cas)
	again = m.cas[k]
	m.cas[k] = true
	return again
}

// checkHit says why a read in the given span cannot have found these records.
func (m *simModel) checkHit(key string, ids []uint64, invoked, ended int64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var base *simChange
	for i, id := range ids {
		c := m.find(key, id)
		switch {
		case c == nil:
			return "was never written"
		case c.effect == simNone:
			return "was refused or not sent"
		case c.invoked > ended:
			return "is from the future"
		case (i == 0) != (c.kind == simStores):
			return "has its records in disorder"
		case i == 0:
			base = c
		case c.ended < base.invoked:
			return "has a record that its base had replaced"
		}
	}
	for _, c := range m.keys[key] {
		if c.kind != simAppends && c.effect == simSure && c.invoked > base.ended && c.ended < invoked {
			return "is stale"
		}
	}
	return ""
}

// checkMiss says why a read in the given span must have found something.
func (m *simModel) checkMiss(key string, invoked, ended int64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var last *simChange // that was surely stored before, begun last
	for _, c := range m.keys[key] {
		if c.kind == simStores && c.effect == simSure && c.ended < invoked && (last == nil || c.invoked > last.invoked) {
			last = c
		}
	}
	if last == nil {
		return ""
	}
	for _, c := range m.keys[key] {
		if c.kind == simRemoves && c.effect != simNone && c.ended > last.invoked && c.invoked < ended {
			return ""
		}
	}
	return "was stored and is lost"
}

func (m *simModel) find(key string, id uint64) *simChange {
	for _, c := range m.keys[key] {
		if c.id == id {
			return c
		}
	}
	return nil
}
