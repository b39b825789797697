// Package process runs programs as a service manager does: started with arguments, watched, terminated or killed, with their output in a file.
// It must not depend on a program.
package process

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a started program.
type Process struct {
	cmd    *exec.Cmd
	output string
	exited chan struct{}
	err    error // valid once exited is closed
}

// Start starts the program at path. Its output is appended to the file output. The process does not get the terminal's Ctrl-C, and on Linux
// is killed when its parent ends.
func Start(path string, args []string, env []string, output string) (*Process, error) {
	return StartBare(path, args, append(os.Environ(), env...), output)
}

// StartBare is Start with env as the whole environment.
func StartBare(path string, args []string, env []string, output string) (*Process, error) {
	file, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the output of %s: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.Env = append([]string{}, env...) // nil would be the environment of this process
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	p := &Process{cmd: cmd, output: output, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Terminate sends SIGTERM and waits for the end. It fails if the exit code is not 0, and kills the process when ctx ends first.
func (p *Process) Terminate(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking process %d to end: %w", p.PID(), err)
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("process %d did not end when asked to and was killed: %w", p.PID(), ctx.Err())
	}
	if p.err != nil {
		return fmt.Errorf("process %d: %w", p.PID(), p.err)
	}
	return nil
}

// End sends SIGTERM and waits for the end, whatever the exit code, and kills the process when ctx ends first. It is for other projects' programs.
func (p *Process) End(ctx context.Context) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.Kill()
	}
}

// Kill kills the process and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// KillGroup kills what the process started and did not wait for.
func (p *Process) KillGroup() { _ = syscall.Kill(-p.PID(), syscall.SIGKILL) }

// ExitCode returns the exit code of a process that has ended, or as shells do 128 and the number of the signal that ended it.
func (p *Process) ExitCode() int {
	if status, is := p.cmd.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Output returns the output so far.
func (p *Process) Output() (string, error) {
	content, err := os.ReadFile(p.output)
	return string(content), err
}

// WaitForOK waits until a GET of url is answered with 200. It fails as soon as the process ends.
func (p *Process) WaitForOK(ctx context.Context, url string) error {
	return p.WaitFor(ctx, url, func(ctx context.Context) error { return get(ctx, http.DefaultClient, url) })
}

// WaitForTLS is WaitForOK without verification of the certificate. The server must be a process on this machine that this one started.
func (p *Process) WaitForTLS(ctx context.Context, url string) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	return p.WaitFor(ctx, url, func(ctx context.Context) error { return get(ctx, client, url) })
}

// WaitFor waits until a check returns no error. It fails as soon as the process ends.
func (p *Process) WaitFor(ctx context.Context, what string, check func(context.Context) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for last := errors.New("not asked yet"); ; {
		select {
		case <-p.exited:
			output, _ := p.Output()
			return fmt.Errorf("process ended before it was ready: %s\n%s", p.cmd.ProcessState, output)
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last: %w", what, ctx.Err(), last)
		case <-tick.C:
			if last = check(ctx); last == nil {
				return nil
			}
		}
	}
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
