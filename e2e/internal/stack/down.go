package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// How long processes may take to end before they are killed.
const (
	serviceGracePeriod = 5 * time.Second
	storeGracePeriod   = 30 * time.Second // they write down what they hold in memory
)

// Down ends all processes of the cloud, and removes its state unless keep is true.
func (s *Stack) Down(ctx context.Context, keep bool) error {
	there, err := s.layout.verify()
	if err != nil {
		return err
	}
	if !there {
		s.screen.Linef("There is no %s: nothing to do.", s.layout.dir)
		return nil
	}
	release, err := s.layout.acquire()
	if err != nil {
		return err
	}
	defer release()
	if err := s.policy.restore(); err != nil { // Up may have been killed while it installed packages
		return err
	}
	if err := s.screen.Step("processes", func(io.Writer) (string, error) { return s.layout.stop(ctx, keep) }); err != nil {
		return err
	}
	return s.screen.Step("state", func(io.Writer) (string, error) {
		if keep {
			return "kept in " + s.layout.dir, nil
		}
		return s.layout.dir + " is gone", s.layout.remove()
	})
}

// stop ends all recorded processes, databases and queues last.
func (l layout) stop(ctx context.Context, keep bool) (string, error) {
	names, err := l.recordedNames()
	if err != nil {
		return "", err
	}
	grace := serviceGracePeriod
	if keep {
		grace = storeGracePeriod
	}
	isStore := func(name string) bool {
		return slices.ContainsFunc(l.stores(), func(d daemon) bool { return d.name == name })
	}
	services := slices.DeleteFunc(slices.Clone(names), isStore)
	stores := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isStore(name) })
	err = errors.Join(l.stopRecorded(ctx, serviceGracePeriod, services), l.stopRecorded(ctx, grace, stores))
	if err != nil {
		return "", err
	}
	// Processes that left their session, or were started just before this program was killed.
	if err := end(ctx, serviceGracePeriod, func() []status { return markedProcesses(l.dir, processes()) }); err != nil {
		return "", fmt.Errorf("ending what is left: %w", err)
	}
	return fmt.Sprintf("%d daemons ended", len(names)), nil
}

func (l layout) stopRecorded(ctx context.Context, grace time.Duration, names []string) error {
	err := end(ctx, grace, func() []status {
		all := processes()
		var left []status
		for _, name := range names {
			if i, found := l.recorded(name); found {
				left = append(left, l.session(i, all)...)
			}
		}
		return left
	})
	if err != nil {
		return fmt.Errorf("ending %s: %w", strings.Join(names, ", "), err)
	}
	for _, name := range names {
		if err := os.Remove(l.record(name)); err != nil {
			return fmt.Errorf("forgetting %s: %w", name, err)
		}
	}
	return nil
}

// recordedNames returns the names of all recorded processes.
func (l layout) recordedNames() ([]string, error) {
	paths, err := filepath.Glob(l.record("*"))
	if err != nil {
		return nil, fmt.Errorf("looking for recorded processes: %w", err)
	}
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".pid"))
	}
	return names, nil
}
