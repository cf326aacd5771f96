package reader

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// number against math/big, around every power of ten and each bound in use.
func TestNumber(t *testing.T) {
	var all []*big.Int
	for e := int64(0); e <= 21; e++ {
		all = append(all, new(big.Int).Exp(big.NewInt(10), big.NewInt(e), nil))
	}
	for _, u := range []uint64{MaxValue, math.MaxUint32, math.MaxInt64, math.MaxUint64} {
		b := new(big.Int).SetUint64(u)
		for i := int64(1); i <= 20; i++ { // 1844674407370955161500 and so on wrap round
			all = append(all, new(big.Int).Mul(b, big.NewInt(i)))
		}
	}
	for _, base := range all {
		for off := int64(-2); off <= 2; off++ {
			n := new(big.Int).Add(base, big.NewInt(off))
			for _, most := range []uint64{MaxValue, math.MaxUint32, math.MaxInt64, math.MaxUint64} {
				want := n.Sign() >= 0 && n.Cmp(new(big.Int).SetUint64(most)) <= 0
				for _, tail := range []string{"", " x"} {
					v, digits, ok := number([]byte(n.String()+tail), most)
					require.Equal(t, want, ok, "%v of %d", n, most)
					if ok {
						require.Equal(t, n.Uint64(), v)
						require.Len(t, n.String(), digits)
					}
				}
			}
		}
	}
}

func TestNumberMalformed(t *testing.T) {
	for _, s := range []string{"", " ", "+1", "-1", "1x", "x", "0x1", "1\r", "1_0", "/", ":", "\xff", "000000000000000000001"} {
		_, _, ok := number([]byte(s), math.MaxUint64)
		require.False(t, ok, "%q", s)
	}
}
