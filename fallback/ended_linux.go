package fallback

import "golang.org/x/sys/unix"

// pollPeerEnded is poll's word for a FIN. Linux says POLLHUP only when both
// sides have closed.
const pollPeerEnded = unix.POLLRDHUP
