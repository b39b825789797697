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

// mark is the environment variable by which a process tells what state directory it belongs to.
const mark = "TRELLIS_OPENSTACK"

// glance is the pause between two looks at something that will change soon.
const glance = 100 * time.Millisecond

// identity tells one process from all others, also from a later one that gets the same number.
type identity struct {
	pid   int
	start uint64 // when the process began, in clock ticks since the machine did
}

// status is what the kernel says of a process.
type status struct {
	identity
	session int
	dead    bool // ended, but its parent hasn't looked yet
}

// statusOf reads the kernel's line about a process (man 5 proc, /proc/pid/stat).
func statusOf(pid int) (status, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return status{}, err
	}
	return parseStatus(string(line))
}

func parseStatus(line string) (status, error) {
	// The name of the program stands in parentheses and may contain anything.
	open, closing := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || closing < open {
		return status{}, fmt.Errorf("no name of a program in %q", line)
	}
	fields := strings.Fields(line[closing+1:])
	const state, session, start = 0, 3, 19
	if len(fields) <= start {
		return status{}, fmt.Errorf("too few fields in %q", line)
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(line[:open]))
	sid, err2 := strconv.Atoi(fields[session])
	began, err3 := strconv.ParseUint(fields[start], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return status{}, fmt.Errorf("parsing %q: %w", line, err)
	}
	return status{identity{pid, began}, sid, fields[state] == "Z" || fields[state] == "X"}, nil
}

// processes are all processes of the machine. Those that end meanwhile are left out.
func processes() []status {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []status
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := statusOf(pid); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// isAlive reports whether the process still runs.
func (i identity) isAlive() bool {
	s, err := statusOf(i.pid)
	return err == nil && s.identity == i && !s.dead
}

// session are the living processes of the session that a process has led. The kernel gives a process number away again
// only when no session has it any more, so they are its own even when the leader has ended.
func (i identity) session(all []status) []status {
	var members []status
	for _, s := range all {
		if s.pid == i.pid && s.start != i.start {
			return nil
		}
		if s.session == i.pid && !s.dead {
			members = append(members, s)
		}
	}
	return members
}

// marked are the living processes that carry the mark of a state directory.
func marked(dir string, all []status) []status {
	var found []status
	for _, s := range all {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.pid))
		if err != nil || s.dead {
			continue
		}
		for variable := range bytes.SplitSeq(environment, []byte{0}) {
			if string(variable) == mark+"="+dir {
				found = append(found, s)
			}
		}
	}
	return found
}

func (l layout) record(name string) string { return filepath.Join(l.run(), name+".pid") }

// recorded returns the process that was started under a name, or false.
func (l layout) recorded(name string) (identity, bool) {
	content, err := os.ReadFile(l.record(name))
	if err != nil {
		return identity{}, false
	}
	var i identity
	if _, err := fmt.Sscanf(string(content), "%d %d", &i.pid, &i.start); err != nil {
		return identity{}, false
	}
	return i, true
}

// isRunning reports whether the process that was started under a name still runs.
func (l layout) isRunning(name string) bool {
	i, found := l.recorded(name)
	return found && i.isAlive()
}

// environment is all that a process of the cloud inherits. Another Python than Debian's would not find Debian's modules.
func (l layout) environment(more ...string) []string {
	return append([]string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=" + l.dir,
		"PYTHONPATH=" + l.python(), "PYTHONUNBUFFERED=1", mark + "=" + l.dir,
	}, more...)
}

// start starts a daemon that isn't running yet, in a session of its own: it outlives this program. It is recorded at once.
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
		err = os.WriteFile(l.record(d.name), fmt.Appendf(nil, "%d %d\n", s.pid, s.start), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording %s: %w", d.name, errors.Join(err, cmd.Process.Kill()))
	}
	go func() { _ = cmd.Wait() }() // or it would stay as a zombie when it dies before this program ends
	return nil
}

// tool runs a program to its end, with its output in the log of a name.
func (l layout) tool(ctx context.Context, name string, environment []string, command ...string) error {
	return runLogged(ctx, l.log(name), l.environment(environment...), command...)
}

// runLogged runs a program to its end. What it prints is appended to a file, which the error names.
func runLogged(ctx context.Context, path string, environment []string, command ...string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, log, log
	// The group goes as a whole when ctx ends, and a Ctrl-C in the terminal reaches this program alone.
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

// lastLines says where a log is, and how it ends.
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

// end ends processes: it asks for it, waits for as long as grace, and kills what is left. members looks who is left.
func end(ctx context.Context, grace time.Duration, members func() []status) error {
	deadline := time.Now().Add(grace)
	for signal := syscall.SIGTERM; ; {
		left := members()
		if len(left) == 0 {
			return nil
		}
		if signal != 0 {
			for _, s := range left {
				// Who ends between the look and the signal has done what it should.
				_ = syscall.Kill(s.pid, signal)
			}
		}
		if signal != syscall.SIGKILL {
			signal = 0
		}
		if time.Now().After(deadline) {
			signal = syscall.SIGKILL
		}
		if err := pause(ctx, glance); err != nil {
			return err
		}
	}
}

// pause waits, but not longer than ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
