package ring

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestStaleUserData: what a slot's last connection had in the kernel does not
// belong to its next one.
func TestStaleUserData(t *testing.T) {
	var table slotTable
	c := &conn{slot: table.take()}
	table.name(c)
	table.put(c)
	stale := c.userData(opRecv)
	owner, kind := table.owner(stale)
	assert.Same(t, c, owner)
	assert.Equal(t, opRecv, kind)

	table.give(c.slot, true)
	owner, _ = table.owner(stale)
	assert.Nil(t, owner)

	next := &conn{slot: table.take()}
	table.name(next)
	table.put(next)
	assert.Equal(t, c.slot, next.slot, "the slot is not used again")
	owner, _ = table.owner(stale)
	assert.Nil(t, owner, "a stranger")
	owner, _ = table.owner(next.userData(opRecv))
	assert.Same(t, next, owner)
}
