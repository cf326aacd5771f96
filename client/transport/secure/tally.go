package secure

// A tally knows how many plain bytes are in the encrypted ones that the inner
// connection has queued.
type tally struct{ flights []flight }

// A flight is what was encrypted in one go.
type flight struct{ sealed, plain int }

// maxFlights bounds the list. Beyond it flights are counted as one, which has left
// when the last of them has.
const maxFlights = 32

// add notes a flight.
func (t *tally) add(sealed, plain int) {
	if n := len(t.flights); n == maxFlights {
		t.flights[n-1].sealed += sealed
		t.flights[n-1].plain += plain
		return
	}
	t.flights = append(t.flights, flight{sealed, plain})
}

// left forgets what has left if the last queued bytes have not, and returns how many
// plain ones these are, at most.
func (t *tally) left(queued int) (plain int) {
	keep := len(t.flights)
	for sealed := 0; keep > 0 && sealed < queued; keep-- {
		sealed += t.flights[keep-1].sealed
		plain += t.flights[keep-1].plain
	}
	t.flights = t.flights[:copy(t.flights, t.flights[keep:])]
	return min(plain, queued)
}
