package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// fault is one way of things to go wrong.
type fault struct {
	name string

	// soft: the server answers every request in the end, so no timeout may cost a connection.
	soft bool
	// quiet: no call may fail but for its own timeout, since the fault hits idle connections alone.
	quiet bool
	// lossy: the server loses its items.
	lossy bool
	// proxied: the client talks to the server through a proxy; tiny: one with tiny socket buffers.
	proxied, tiny bool

	least   time.Duration // the shortest round that makes sense
	args    []string      // memcached's
	tune    func(*client.Config)
	episode func(*scene, *rand.Rand)
}

// scene is what an episode of a fault works on. It ends early with ctx.
type scene struct {
	ctx    context.Context
	server *memcachedtest.Process
	proxy  *proxy
	gate   *gate
}

func (s *scene) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

func faults() []fault {
	return []fault{
		{name: "none", soft: true, quiet: true, episode: func(s *scene, r *rand.Rand) { s.sleep(between(r, 50*ms, 300*ms)) }},
		{name: "pause", soft: true, episode: pause},
		{name: "delay", soft: true, proxied: true, episode: func(s *scene, r *rand.Rand) {
			longest := between(r, 2*ms, 200*ms)
			s.proxy.change(weather{delay: func(r *rand.Rand) time.Duration { return between(r, 0, longest) }})
			s.sleep(between(r, 100*ms, 600*ms))
			s.proxy.change(weather{})
		}},
		{name: "drip", soft: true, proxied: true, episode: func(s *scene, r *rand.Rand) {
			s.proxy.change(weather{drip: between(r, 10*us, 2*ms)})
			s.sleep(between(r, 100*ms, 600*ms))
			s.proxy.change(weather{})
		}},
		{name: "halt", soft: true, proxied: true, episode: func(s *scene, r *rand.Rand) {
			s.proxy.change(weather{halt: true})
			s.sleep(between(r, 20*ms, 600*ms))
			s.proxy.change(weather{})
		}},
		{name: "tiny", soft: true, proxied: true, tiny: true, episode: func(s *scene, r *rand.Rand) {
			if r.IntN(2) == 0 {
				pause(s, r)
			}
			s.sleep(between(r, 50*ms, 300*ms))
		}},
		{name: "idle", quiet: true, least: 9 * time.Second, args: []string{"-o", "idle_timeout=1"}, episode: func(s *scene, r *rand.Rand) {
			s.sleep(between(r, 50*ms, 200*ms))
			s.gate.close()
			s.sleep(4 * time.Second) // memcached looks for idle connections every second or two
			s.gate.open()
			s.sleep(between(r, 50*ms, 200*ms))
		}},
		{name: "kill", lossy: true, episode: func(s *scene, r *rand.Rand) {
			_ = s.server.Stop()
			s.sleep(between(r, 0, 300*ms))
			_ = s.server.Restart(context.Background())
			s.sleep(between(r, 50*ms, 400*ms))
		}},
		{name: "cut", proxied: true, episode: func(s *scene, r *rand.Rand) {
			s.proxy.each(func(l *link) { l.cut.Store(1 + r.Int64N(4000)) })
			s.sleep(between(r, 10*ms, 200*ms))
		}},
		{name: "reset", proxied: true, episode: func(s *scene, r *rand.Rand) {
			s.proxy.each((*link).reset)
			s.sleep(between(r, 10*ms, 200*ms))
		}},
		{name: "halfopen", proxied: true, tune: impatient, episode: func(s *scene, r *rand.Rand) {
			if r.IntN(2) == 0 {
				s.proxy.each((*link).vanish)
			} else {
				s.proxy.each((*link).halfClose)
			}
			s.sleep(between(r, 300*ms, 900*ms))
		}},
		{name: "chaos", lossy: true, proxied: true, tune: impatient, episode: chaos},
	}
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// impatient lets a client notice a server that has vanished within a round.
func impatient(c *client.Config) {
	c.StallLimit = 300 * ms
	c.MaxDebt = 0 // its default
}

func pause(s *scene, r *rand.Rand) {
	if s.server.Pause() != nil {
		return // not on this system
	}
	s.sleep(between(r, 5*ms, 600*ms))
	_ = s.server.Resume()
	s.sleep(between(r, 20*ms, 200*ms))
}

// chaos is a fault of any other kind at each moment.
func chaos(s *scene, r *rand.Rand) {
	all := faults()
	f := all[r.IntN(len(all))]
	if f.name != "chaos" && f.name != "idle" {
		f.episode(s, r)
	}
}
