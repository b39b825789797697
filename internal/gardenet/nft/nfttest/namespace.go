package nfttest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inside is the environment variable that is set in the process that runs in a namespace.
const inside = "TRELLIS_NFT_NAMESPACE"

// InNamespace runs a test in a process of its own, in a new network namespace, and without the names of protocols and services in /etc, which the agent's image
// lacks, too. It returns true there. Where it returns false, it has done the work, and the test has to return. It skips the test, with the reason, if that is not possible. The test must not be a subtest.
func InNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		hideNames(t)
		return true
	}
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("the program nft is missing: install it (the package is nftables on Debian), and have /usr/sbin in PATH")
	}
	if output, err := isolated(t, "nft", "list", "ruleset").CombinedOutput(); err != nil {
		t.Skipf("nft does not run in a user and network namespace (%v: %s): allow user namespaces (sysctl user.max_user_namespaces, "+
			"kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns=0), and load nf_tables", err, bytes.TrimSpace(output))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := isolated(t, self, "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), inside+"=1")
	output, err := command.CombinedOutput()
	t.Logf("in a namespace:\n%s", output)
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("the test fails in a namespace: %v", err)
	}
	return false
}

// protocols is the file in which nft looks up names of protocols that are not its own words, and those of all protocols that it lists.
const protocols = "/etc/protocols"

// hideNames empties the files in which nft looks names up.
func hideNames(t *testing.T) {
	t.Helper()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatalf("separating the namespace of mounts: %v", err)
	}
	for _, file := range []string{protocols, "/etc/services"} {
		if err := syscall.Mount(os.DevNull, file, "", syscall.MS_BIND, ""); err != nil && !errors.Is(err, syscall.ENOENT) {
			t.Fatalf("hiding %s: %v", file, err)
		}
	}
}

// withOwnWords calls a function while nft lists protocols by the words that it reads without any file.
func withOwnWords(t *testing.T, do func()) {
	t.Helper()
	names := filepath.Join(t.TempDir(), "protocols")
	if err := os.WriteFile(names, []byte("icmp 1\ntcp 6\nudp 17\nicmpv6 58\nsctp 132\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(names, protocols, "", syscall.MS_BIND, ""); err != nil {
		t.Fatalf("replacing %s (the package is netbase on Debian): %v", protocols, err)
	}
	do()
	if err := syscall.Unmount(protocols, 0); err != nil {
		t.Fatalf("hiding %s: %v", protocols, err)
	}
}

// isolated returns a command that runs as root of new namespaces.
func isolated(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...) //nolint:gosec // the test itself, or nft
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return command
}

// Apply runs a transaction with nft. With check, nft reads it only, and asks the kernel whether it would take it.
func Apply(t *testing.T, transaction string, check bool) error {
	t.Helper()
	args := []string{"-f", "-"}
	if check {
		args = []string{"-c", "-f", "-"}
	}
	command := exec.CommandContext(t.Context(), "nft", args...)
	command.Stdin = strings.NewReader(transaction)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("running nft: %w: %s", err, output)
	}
	return nil
}

// List returns what nft lists of a table, without values of counters. The test must be in a namespace.
func List(t *testing.T, table string) string {
	t.Helper()
	var output []byte
	var err error
	withOwnWords(t, func() {
		output, err = exec.CommandContext(t.Context(), "nft", "-s", "list", "table", "inet", table).CombinedOutput() //nolint:gosec // a name of the test
	})
	if err != nil {
		t.Fatalf("listing table %s: %v: %s", table, err, output)
	}
	return string(output)
}
