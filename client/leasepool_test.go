package client

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each class holds what it is for and is the smallest that does, and wastes at most
// a fifth of its blocks.
func TestLeaseClasses(t *testing.T) {
	sizes := []int{0, 1, 1 << 10, 16 << 20}
	for class, room := range classRooms() {
		sizes = append(sizes, room-1, room, room+1)
		got, _ := classOf(room)
		assert.Equal(t, class, got, room)
		l := new(lender)
		b := l.lend(room)
		assert.Len(t, b.mem, room)
		assert.Equal(t, class, b.class)
	}
	for range 10_000 {
		sizes = append(sizes, rand.IntN(1<<rand.IntN(26)))
	}
	for _, size := range sizes {
		class, room := classOf(size)
		require.GreaterOrEqual(t, room, size)
		if size > 16<<20 {
			require.Equal(t, unpooled, class)
			require.Equal(t, size, room, "exactly")
			continue
		}
		require.Less(t, class, classes)
		if class > 0 {
			require.LessOrEqual(t, 5*(room-size), room, size)
			smaller, less := classOf(size - size/4)
			require.Less(t, smaller, class, size)
			require.Less(t, less, size, "a smaller class would do for %d", size)
		}
	}
}

// classRooms lists what the blocks of each class hold.
func classRooms() []int {
	rooms := []int{1 << 10}
	for step := 256; len(rooms) < classes; step *= 2 {
		for range 4 {
			rooms = append(rooms, rooms[len(rooms)-1]+step)
		}
	}
	return rooms
}
