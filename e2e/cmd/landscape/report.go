package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// reporter prints what happens, with the seconds since the start.
type reporter struct {
	out   io.Writer
	start time.Time
	mutex sync.Mutex
}

func newReporter(out io.Writer) *reporter { return &reporter{out: out, start: time.Now()} }

// Linef prints a line.
func (r *reporter) Linef(format string, args ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, _ = fmt.Fprintf(r.out, "[%6.1f s] %s\n", time.Since(r.start).Seconds(), fmt.Sprintf(format, args...))
}

// step prints how long something took.
func (r *reporter) step(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return err
	}
	r.Linef("%s (%.1f s)", name, time.Since(start).Seconds())
	return nil
}

// standIns collects what is only simulated.
type standIns struct {
	mutex sync.Mutex
	all   []standin.StandIn
}

func (s *standIns) add(one standin.StandIn) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.all = append(s.all, one)
}

// list returns what has been added.
func (s *standIns) list() []standin.StandIn {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.all)
}

func (s *standIns) print(r *reporter) {
	r.Linef("simulated:")
	for _, one := range s.list() {
		r.Linef("  %s: %s", one.Name, one.Reason)
	}
}
