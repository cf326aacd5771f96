package worker

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/bench/internal/cases"
)

// failing has lost its server.
type failing struct{ fake }

func (failing) Get(string) ([]byte, error) { return nil, errors.New("no server") }

func visit(t *testing.T, addr string) (status int, body string) {
	t.Helper()
	r, err := http.Get("http://" + addr + "/")
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(b)
}

func TestServiceAnswersWithValues(t *testing.T) {
	spec := Spec{Case: cases.Case{Op: cases.Serve, Size: 100}}
	s, err := openService(spec, fake{size: 100})
	require.NoError(t, err)
	defer s.close()
	_, before := visit(t, s.addr)
	status, body := visit(t, s.addr)
	require.Equal(t, http.StatusOK, status)
	require.Len(t, body, 100)
	require.NotEqual(t, before, body, "each request gets another key")
	sample, err := s.slice(Command{})
	require.NoError(t, err)
	require.Positive(t, sample.Mallocs)
	require.Positive(t, sample.CPU)
}

func TestServiceTellsOfFailure(t *testing.T) {
	s, err := openService(Spec{Case: cases.Case{Op: cases.Serve, Size: 100}}, failing{})
	require.NoError(t, err)
	defer s.close()
	status, _ := visit(t, s.addr)
	require.Equal(t, http.StatusInternalServerError, status)
	_, err = s.slice(Command{})
	require.ErrorContains(t, err, "no server")

	s, err = openService(Spec{Case: cases.Case{Op: cases.Serve, Size: 100}}, fake{size: 100, wrong: true})
	require.NoError(t, err)
	defer s.close()
	status, _ = visit(t, s.addr)
	require.Equal(t, http.StatusInternalServerError, status)
}
