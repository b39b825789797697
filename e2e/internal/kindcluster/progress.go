package kindcluster

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/log"
)

// logger prints completed steps, and how long each took. Started steps, and details, are left out.
type logger struct {
	out io.Writer

	mutex sync.Mutex
	last  time.Time
}

var _ log.Logger = (*logger)(nil)

func newLogger(out io.Writer) *logger { return &logger{out: out, last: time.Now()} }

func (l *logger) Warn(message string)               { l.print(message) }
func (l *logger) Warnf(format string, args ...any)  { l.print(fmt.Sprintf(format, args...)) }
func (l *logger) Error(message string)              { l.print(message) }
func (l *logger) Errorf(format string, args ...any) { l.print(fmt.Sprintf(format, args...)) }

// V returns a logger that prints at level 0 only.
func (l *logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return steps{l}
}

func (l *logger) print(message string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if message = trim(message); message != "" {
		fmt.Fprintln(l.out, message)
	}
}

// done prints a completed step.
func (l *logger) done(step string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := time.Now()
	fmt.Fprintf(l.out, "  %s (%.1f s)\n", trim(step), now.Sub(l.last).Seconds())
	l.last = now
}

func trim(message string) string { return strings.TrimSpace(strings.Map(plain, message)) }

// plain removes emoji.
func plain(r rune) rune {
	if r > 0x7f {
		return -1
	}
	return r
}

// steps prints kind's steps.
type steps struct{ *logger }

func (s steps) Enabled() bool { return true }

func (s steps) Info(message string) {
	message = strings.TrimSpace(message)
	switch {
	case strings.HasPrefix(message, "•"): // a step begins
	case strings.HasPrefix(message, "✓"):
		s.done(message)
	default:
		s.print(message)
	}
}

func (s steps) Infof(format string, args ...any) { s.Info(fmt.Sprintf(format, args...)) }
