// Package differential shows that client/gomemcache does what gomemcache does: its tests drive both with the
// same scripts, each against memcacheds of its own, and compare every result and what the servers hold in the
// end. It lies here because the library's own module does not depend on gomemcache.
package differential
