//go:build unix && !linux

package fallback

// pollPeerEnded: POLLHUP says it.
const pollPeerEnded = 0
