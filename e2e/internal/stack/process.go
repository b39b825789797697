package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processMarker is the environment variable that contains a process's state directory. All processes with this variable may be killed, so the
// name must not be used for anything else.
const processMarker = "TRELLIS_OPENSTACK_PROCESS_OF"

// processPollInterval is the interval of checks for a state that is expected soon.
const processPollInterval = 100 * time.Millisecond

// hasMarker reports whether the environment of a process names the state directory.
func hasMarker(pid int, dir string) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if string(variable) == processMarker+"="+dir {
			return true
		}
	}
	return false
}

// markedProcesses returns the processes that are marked with a state directory, without this program and its ancestors: they may have the
// variable from a shell that was opened in the cloud's environment.
func markedProcesses(dir string, all []status) []status {
	spared := withAncestors(os.Getpid())
	var found []status
	for _, s := range all {
		if !s.dead && !spared[s.pid] && hasMarker(s.pid, dir) {
			found = append(found, s)
		}
	}
	return found
}

// owns reports whether a process works in the state directory or is marked with it. Children inherit both, and either can be lost: Neutron
// overwrites its environment with its title.
func (l layout) owns(pid int) bool {
	dir, err := filepath.EvalSymlinks(l.dir)
	if err != nil {
		dir = l.dir
	}
	where, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err == nil && (where == dir || strings.HasPrefix(where, dir+"/")) {
		return true
	}
	return hasMarker(pid, l.dir)
}

// session returns the running processes of the session that a process has led, even if the leader has ended. Since its number may belong to
// another process now, each must also belong to the cloud.
func (l layout) session(i identity, all []status) []status {
	var members []status
	for _, s := range all {
		if s.pid == i.pid && s.start != i.start {
			return nil
		}
		if s.session == i.pid && !s.dead && l.owns(s.pid) {
			members = append(members, s)
		}
	}
	return members
}

func (l layout) record(name string) string { return filepath.Join(l.run(), name+".pid") }

// remember records a process under a name, together with the boot: a state directory outlives a reboot.
func (l layout) remember(name string, i identity) error {
	era, err := bootID()
	if err != nil {
		return err
	}
	return os.WriteFile(l.record(name), fmt.Appendf(nil, "%d %d %s\n", i.pid, i.start, era), 0o600)
}

// recorded returns the process that was started under a name, or false. A record of another boot is ignored. Records of older versions have no
// boot; those processes must belong to the cloud, as all must.
func (l layout) recorded(name string) (identity, bool) {
	content, err := os.ReadFile(l.record(name))
	if err != nil {
		return identity{}, false
	}
	var i identity
	if _, err := fmt.Sscanf(string(content), "%d %d", &i.pid, &i.start); err != nil {
		return identity{}, false
	}
	if fields := strings.Fields(string(content)); len(fields) > 2 {
		if now, err := bootID(); err != nil || fields[2] != now {
			return identity{}, false
		}
	}
	return i, true
}

// running returns the process that was started under a name, if it still runs.
func (l layout) running(name string) (identity, bool) {
	i, found := l.recorded(name)
	return i, found && i.isAlive() && l.owns(i.pid)
}

func (l layout) isRunning(name string) bool {
	_, yes := l.running(name)
	return yes
}

// environment is the environment of all processes of the cloud. Another Python than Debian's would not find Debian's modules.
func (l layout) environment(more ...string) []string {
	return append([]string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=" + l.dir,
		"PYTHONPATH=" + l.python(), "PYTHONUNBUFFERED=1", processMarker + "=" + l.dir,
	}, more...)
}

// start starts a daemon that is not running, in a session of its own, since it outlives this program. It is recorded at once.
func (l layout) start(d daemon) error {
	if l.isRunning(d.name) {
		return nil
	}
	log, err := os.OpenFile(l.log(d.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", d.name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(d.command[0], d.command[1:]...)
	cmd.Env, cmd.Dir = l.environment(d.environment...), l.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", d.name, err)
	}
	s, err := statusOf(cmd.Process.Pid)
	if err == nil {
		err = l.remember(d.name, s.identity)
	}
	if err != nil {
		return fmt.Errorf("recording %s: %w", d.name, errors.Join(err, cmd.Process.Kill()))
	}
	go func() { _ = cmd.Wait() }() // or it would stay as a zombie when it dies before this program ends
	return nil
}

// tool runs a program to its end, and logs its output under a name.
func (l layout) tool(ctx context.Context, name string, environment []string, command ...string) error {
	return runLogged(ctx, l.log(name), l.environment(environment...), command...)
}

// runLogged runs a program to its end. Its output is appended to a file, which the error names.
func runLogged(ctx context.Context, path string, environment []string, command ...string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, log, log
	// The process group is killed when ctx ends, and does not get Ctrl-C from the terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w%s", filepath.Base(command[0]), err, lastLines(path))
	}
	return nil
}

// lastLines returns the path and the last lines of a log.
func lastLines(path string) string {
	const few = 15
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) > few {
		lines = lines[len(lines)-few:]
	}
	return fmt.Sprintf("\nthe end of %s:\n    %s", path, strings.Join(lines, "\n    "))
}

// killTimeout bounds the wait for killed processes. One that hangs in a disk operation does not end.
const killTimeout = 10 * time.Second

// end signals processes, waits at most grace, and kills the others. members lists the remaining ones.
func end(ctx context.Context, grace time.Duration, members func() []status) error {
	for _, s := range members() {
		// A process that ends between the listing and the signal has done what it should.
		_ = syscall.Kill(s.pid, syscall.SIGTERM)
	}
	left, err := await(ctx, grace, members)
	if err != nil || len(left) == 0 {
		return err
	}
	left, err = await(ctx, killTimeout, func() []status {
		all := members() // among them may be some that began since
		for _, s := range all {
			_ = syscall.Kill(s.pid, syscall.SIGKILL)
		}
		return all
	})
	if err != nil || len(left) == 0 {
		return err
	}
	var numbers []string
	for _, s := range left {
		numbers = append(numbers, strconv.Itoa(s.pid))
	}
	return fmt.Errorf("still there %s after they were killed: processes %s", killTimeout, strings.Join(numbers, ", "))
}

// await waits until no members are left, but not longer than timeout. It returns those that are left.
func await(ctx context.Context, timeout time.Duration, members func() []status) ([]status, error) {
	for deadline := time.Now().Add(timeout); ; {
		left := members()
		if len(left) == 0 || time.Now().After(deadline) {
			return left, nil
		}
		if err := pause(ctx, processPollInterval); err != nil {
			return left, err
		}
	}
}

// pause waits for a duration or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
