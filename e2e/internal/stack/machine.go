package stack

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// UnfitError lists what the machine lacks, one sentence each.
type UnfitError struct{ Needs []string }

func (u *UnfitError) Error() string {
	return "this machine cannot run it:\n  " + strings.Join(u.Needs, "\n  ")
}

// machine has the properties of a computer that matter.
type machine struct {
	system    string // as Go names operating systems
	osRelease []byte // content of /etc/os-release
	userID    int
	has       func(program string) bool
}

// UnmetRequirements returns a sentence for each property that this machine lacks, packages and free ports apart.
func UnmetRequirements() []string { return thisMachine().unmetRequirements() }

func thisMachine() machine {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release = nil
	}
	return machine{
		system: runtime.GOOS, osRelease: release, userID: os.Getuid(),
		has: func(program string) bool { _, err := exec.LookPath(program); return err == nil },
	}
}

// unmetRequirements returns a sentence for each missing property.
func (m machine) unmetRequirements() []string {
	if m.system != "linux" {
		return []string{fmt.Sprintf("needs Debian 12 (this is %s)", m.system)}
	}
	var needs []string
	release := parseRelease(m.osRelease)
	if release["ID"] != "debian" || release["VERSION_ID"] != "12" {
		name := release["PRETTY_NAME"]
		if name == "" {
			name = "a Linux without a name in /etc/os-release"
		}
		needs = append(needs, fmt.Sprintf("needs Debian 12 (this is %s)", name))
	}
	if m.userID != 0 {
		needs = append(needs, fmt.Sprintf("needs to be run by root (this is user %d)", m.userID))
	}
	for _, program := range []string{"apt-get", "dpkg-query"} {
		if !m.has(program) {
			needs = append(needs, fmt.Sprintf("needs %s (it is not in PATH)", program))
		}
	}
	return needs
}

// parseRelease reads the variables of an os-release file (man 5 os-release).
func parseRelease(content []byte) map[string]string {
	variables := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), "=")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		variables[name] = strings.Trim(value, "'")
	}
	return variables
}

// portsInUse returns a sentence for each port that a process of another program uses. The cloud's own ports belong to running processes.
func portsInUse(ports []Port, isOurs func(name string) bool, isTaken func(address string) bool) []string {
	var needs []string
	for _, p := range ports {
		if address := addressOf(p.Name); !isOurs(p.Name) && isTaken(address) {
			needs = append(needs, fmt.Sprintf("needs %s for %s (another program listens there)", address, p.Name))
		}
	}
	return needs
}
