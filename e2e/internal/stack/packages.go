package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// packages are the Debian packages. They do not include those named after the daemons (nova-compute, cinder-volume), which depend on libvirt,
// QEMU and LVM; the code is in the packages below.
func packages() []string {
	return []string{
		"mariadb-server-core", "mariadb-client-core", "mariadb-client", "rabbitmq-server", "memcached",
		"uwsgi-core", "uwsgi-plugin-python3", "python3-pymysql", "python3-mysqldb", "python3-sqlalchemy-ext",
		"python3-pymemcache", "python3-memcache",
		"python3-keystone", "python3-placement", "placement-common", "glance-common", "nova-common", "neutron-common",
		"cinder-common", "octavia-common",
		"python3-openstackclient", "python3-octaviaclient", // for people who want to look
	}
}

// installedPackages returns the installed ones of the named packages, or all without names, with their versions.
func installedPackages(ctx context.Context, names []string) (map[string]string, error) {
	query := exec.CommandContext(ctx, "dpkg-query", append([]string{"--show", "--showformat", `${Package} ${Version} ${db:Status-Status}\n`}, names...)...)
	output, err := query.Output()
	// The exit status is 1 if a package is unknown; the output has the others.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("asking for the installed packages: %w", err)
	}
	return parseInstalled(output), nil
}

func parseInstalled(output []byte) map[string]string {
	versions := map[string]string{}
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "installed" {
			versions[fields[0]] = fields[1]
		}
	}
	return versions
}

// missingPackages are those that are not installed.
func missingPackages(ctx context.Context) ([]string, error) {
	versions, err := installedPackages(ctx, packages())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(packages(), func(name string) bool { return versions[name] != "" }), nil
}

// install installs packages. None of their daemons, nor of their dependencies', is started: not now, by the policy script, and not by systemd at
// boot, since they would use ports and memory of the machine.
func install(ctx context.Context, names []string, policy policyFile, log string) (err error) {
	before, err := installedPackages(ctx, nil)
	if err != nil {
		return err
	}
	if err := policy.forbid(); err != nil {
		return err
	}
	defer func() {
		// What was installed before a failure or Ctrl-C must be disabled, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, policy.restore(), disableNew(ctx, before, log))
	}()
	if err := runLogged(ctx, log, aptEnvironment(), "apt-get", "update"); err != nil {
		return fmt.Errorf("updating the lists of packages: %w", err)
	}
	command := append([]string{
		"apt-get", "install", "--yes", "--no-install-recommends",
		"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Use-Pty=0",
	}, names...)
	if err := runLogged(ctx, log, aptEnvironment(), command...); err != nil {
		return fmt.Errorf("installing packages: %w", err)
	}
	return nil
}

func aptEnvironment() []string {
	return append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "DEBCONF_NONINTERACTIVE_SEEN=true", "LC_ALL=C.UTF-8")
}

// disableNew disables the systemd units of packages that were not installed before. Others are not changed.
func disableNew(ctx context.Context, before map[string]string, log string) error {
	now, err := installedPackages(ctx, nil)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(name string) bool { return before[name] != "" })
	if len(added) == 0 {
		return nil
	}
	files, err := exec.CommandContext(ctx, "dpkg-query", append([]string{"--listfiles"}, added...)...).Output()
	if err != nil {
		return fmt.Errorf("asking for the files of new packages: %w", err)
	}
	units := unitsAmong(files, isFile)
	if !thisMachine().has("systemctl") || len(units) == 0 {
		return nil
	}
	if err := runLogged(ctx, log, aptEnvironment(), append([]string{"systemctl", "disable"}, units...)...); err != nil {
		return fmt.Errorf("disabling the daemons of new packages: %w", err)
	}
	return nil
}

// unitsAmong returns the names of the systemd units that could be started at boot, from a list of paths. Links are other names of units in the
// list, and templates are not units.
func unitsAmong(paths []byte, isFile func(path string) bool) []string {
	var units []string
	for line := range strings.Lines(string(paths)) {
		path := strings.TrimSpace(line)
		dir, name := filepath.Split(path)
		isUnit := slices.Contains([]string{".service", ".socket", ".timer", ".path"}, filepath.Ext(name))
		if strings.HasSuffix(dir, "/lib/systemd/system/") && isUnit && !strings.Contains(name, "@.") && isFile(path) {
			units = append(units, name)
		}
	}
	return units
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// policyFile is the path of the script by which Debian's packages decide whether to start a daemon.
type policyFile string

const (
	debianPolicy policyFile = "/usr/sbin/policy-rc.d"

	forbidAll = "#!/bin/sh\n# Written by Trellis's OpenStack for tests while it installs packages.\nexit 101\n"
)

func (p policyFile) saved() string { return string(p) + ".before-trellis-openstack" }

// forbid installs a script that refuses, and saves an existing one.
func (p policyFile) forbid() error {
	if err := p.restore(); err != nil { // or ours would be kept as theirs
		return err
	}
	if err := os.Rename(string(p), p.saved()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("setting %s aside: %w", p, err)
	}
	if err := os.WriteFile(string(p), []byte(forbidAll), 0o755); err != nil {
		return fmt.Errorf("forbidding packages to start daemons: %w", errors.Join(err, p.restore()))
	}
	return nil
}

// restore restores the state before forbid, unless the script was replaced since.
func (p policyFile) restore() error {
	content, err := os.ReadFile(string(p))
	switch isOurs := bytes.Equal(content, []byte(forbidAll)); {
	case err == nil && !isOurs:
		return nil
	case err == nil:
		err = os.Remove(string(p))
	case errors.Is(err, os.ErrNotExist):
		err = nil
	}
	if err != nil {
		return fmt.Errorf("restoring %s: %w", p, err)
	}
	if err := os.Rename(p.saved(), string(p)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("restoring %s: %w", p, err)
	}
	return nil
}
