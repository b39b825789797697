package stack

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// Stack is the cloud of a machine, running or not.
type Stack struct {
	layout layout
	policy policyFile
	screen *terminal.Screen
}

// New returns the cloud with the state directory dir, which prints progress to a screen.
func New(dir string, screen *terminal.Screen) (*Stack, error) {
	l, err := newLayout(dir)
	if err != nil {
		return nil, err
	}
	return &Stack{layout: l, policy: debianPolicy, screen: screen}, nil
}

// Dir is the state directory.
func (s *Stack) Dir() string { return s.layout.dir }

// Clouds is the path of clouds.yaml with the clouds admin, member and member-appcred.
func (s *Stack) Clouds() string { return s.layout.clouds() }

// createAndAcquire locks the state directory, which it creates if it is not there.
func (l layout) createAndAcquire() (release func(), err error) {
	if err := l.create(); err != nil {
		return nil, err
	}
	return l.acquire()
}

// acquire locks the state directory against other processes. The kernel releases the lock when this program ends.
func (l layout) acquire() (release func(), err error) {
	file, err := os.OpenFile(l.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", l.dir, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = file.Close()
		return nil, fmt.Errorf("the cloud in %s is being brought up or down by somebody else right now", l.dir)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking %s: %w", l.dir, err)
	}
	return func() { _ = file.Close() }, nil
}
