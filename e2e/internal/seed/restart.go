package seed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// exitTimeout bounds the end of a process that was killed.
const exitTimeout = 10 * time.Second

// launcher is a program that writes its process ID to a file before it becomes the API server, which envtest starts and whose process it hides.
const launcher = `#!/bin/sh
echo $$ > '%s'
exec '%s' "$@"
`

func (s *Seed) pidFile() string { return filepath.Join(s.dir, "kube-apiserver.pid") }

// prepareRestarts makes the API server's process known, and its certificates survive its end.
func (s *Seed) prepareRestarts() error {
	if !s.restarts {
		return nil
	}
	server := s.environment.ControlPlane.GetAPIServer()
	server.CertDir = filepath.Join(s.dir, "certificates")
	path := filepath.Join(s.dir, "start-kube-apiserver")
	err := errors.Join(os.Mkdir(server.CertDir, 0o700), os.WriteFile(path, fmt.Appendf(nil, launcher, s.pidFile(), server.Path), 0o700))
	if err != nil {
		return fmt.Errorf("preparing restarts of the API server: %w", err)
	}
	server.Path = path
	return nil
}

// KillAPIServer kills the API server of a seed with WithRestarts, and waits for its end. etcd goes on running.
func (s *Seed) KillAPIServer() error {
	content, err := os.ReadFile(s.pidFile())
	if err != nil {
		return fmt.Errorf("killing the API server: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return fmt.Errorf("killing the API server: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing the API server: %w", err)
	}
	for end := time.Now().Add(exitTimeout); ; time.Sleep(10 * time.Millisecond) {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the API server did not end within %s after it was killed", exitTimeout)
		}
	}
}

// StartAPIServer starts the API server again after KillAPIServer, with the same objects, address and credentials, and waits until it is ready.
func (s *Seed) StartAPIServer() error {
	if err := s.environment.ControlPlane.GetAPIServer().Start(); err != nil {
		return fmt.Errorf("starting kube-apiserver again: %w", err)
	}
	return nil
}
