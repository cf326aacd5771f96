package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const wrkSays = `Running 2s test @ http://127.0.0.1:39071/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.15ms    0.87ms  12.11ms   85.02%
    Req/Sec    60.11k     3.20k   65.40k    70.00%
  Latency Distribution
     50%    0.95ms
     75%  802.00us
     90%    2.10ms
     99%    4.50ms
  119620 requests in 2.00s, 136.90MB read
Requests/sec:  59804.11
Transfer/sec:     68.44MB
`

func TestParseWrk(t *testing.T) {
	s, err := parseWrk(wrkSays)
	require.NoError(t, err)
	require.EqualValues(t, 119620, s.Ops)
	require.Equal(t, 2*time.Second, s.Wall)
	require.Equal(t, 950*time.Microsecond, s.P50)
	require.Equal(t, 4500*time.Microsecond, s.P99)

	_, err = parseWrk(wrkSays + "  Non-2xx or 3xx responses: 7\n")
	require.ErrorContains(t, err, "Non-2xx or 3xx responses: 7")
	_, err = parseWrk("unable to connect to 127.0.0.1:1 Connection refused\n")
	require.ErrorContains(t, err, "Connection refused")
}

const slapSays = `get_prop=1.00
cmd_get: 184421
cmd_set: 8192
get_misses: 0
written_bytes: 12716030

Run time: 2.0s Ops: 192613 TPS: 96300 Net_rate: 99.5M/s
`

func TestParseSlap(t *testing.T) {
	s, err := parseSlap(slapSays)
	require.NoError(t, err)
	require.EqualValues(t, 192613, s.Ops)
	require.Equal(t, 2*time.Second, s.Wall)
	_, err = parseSlap("get_misses: 3\n" + slapSays[20:])
	require.Error(t, err)
	_, err = parseSlap("get_misses: 0\n")
	require.Error(t, err)
}

func TestWholeSeconds(t *testing.T) {
	require.Equal(t, time.Second, wholeSeconds(60*time.Millisecond))
	require.Equal(t, 2*time.Second, wholeSeconds(2*time.Second))
}
