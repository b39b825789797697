package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
)

// machine provides facts about this machine.
type machine struct {
	// run runs a program and returns its output.
	run func(ctx context.Context, name string, args ...string) (string, error)
	// read returns the content of a file.
	read func(path string) (string, error)
	// exists reports whether a file or folder exists.
	exists func(path string) bool
	// free returns the free bytes of a folder's file system.
	free func(path string) (uint64, error)
	// image returns the name of an existing node image, or nothing; registry reports whether one could be pulled.
	image    func(ctx context.Context) string
	registry func(ctx context.Context) bool
	// root reports whether the user is root, all whether root has all capabilities.
	root, all bool
}

// finding is the result of one check.
type finding struct {
	what string
	// good describes what exists. Otherwise bad describes what is missing, and help, line by line, how to get it.
	good, bad string
	help      []string
	// optional is true if clusters work without it.
	optional bool
}

// reportNeeds checks this machine and fails if clusters cannot be created on it.
func reportNeeds(ctx context.Context, out io.Writer) error {
	return printFindings(out, checkMachine(ctx, thisMachine()))
}

func printFindings(out io.Writer, findings []finding) error {
	essential := 0
	for _, f := range findings {
		switch {
		case f.bad == "":
			fmt.Fprintf(out, "  ok       %-22s %s\n", f.what, f.good)
			continue
		case f.optional:
			fmt.Fprintf(out, "  could do %-22s %s\n", f.what, f.bad)
		default:
			fmt.Fprintf(out, "  missing  %-22s %s\n", f.what, f.bad)
			essential++
		}
		for _, line := range f.help {
			fmt.Fprintf(out, "%11s%s\n", "", line)
		}
	}
	if essential > 0 {
		return errors.New("this machine lacks something that clusters in Docker cannot do without; nothing has been changed")
	}
	return nil
}

// checkMachine makes all checks. Those that depend on Docker are skipped without it.
func checkMachine(ctx context.Context, m machine) []finding {
	findings := []finding{{what: "operating system", good: runtime.GOOS + "/" + runtime.GOARCH}}
	if runtime.GOOS != "linux" {
		findings[0].bad = runtime.GOOS + ": pods reach processes of the host by Docker's network, which takes Linux"
		return findings
	}
	client, daemon := m.docker(ctx)
	findings = append(findings, client)
	if client.bad == "" {
		findings = append(findings, daemon)
	}
	if client.bad == "" && daemon.bad == "" {
		findings = append(findings, m.privileged(ctx), m.cgroups(), m.disk(ctx))
	}
	findings = append(findings, m.modules(), m.inotify())
	if client.bad == "" && daemon.bad == "" {
		if image := m.image(ctx); image != "" {
			return append(findings, finding{what: "node image", good: image})
		}
	}
	return append(findings, m.sources(ctx)...)
}

func (m machine) docker(ctx context.Context) (client, daemon finding) {
	client, daemon = finding{what: "docker"}, finding{what: "docker daemon"}
	version, err := m.run(ctx, "docker", "version", "--format", "{{.Client.Version}}")
	if version == "" {
		client.bad = "the program docker is not installed"
		client.help = []string{
			"apt-get install --no-install-recommends docker.io",
			"since Debian 13 the client is a package of its own:  apt-get install --no-install-recommends docker.io docker-cli",
		}
		return client, daemon
	}
	client.good, _, _ = strings.Cut(version, "\n")
	server, err2 := m.run(ctx, "docker", "info", "--format", "{{.ServerVersion}}, {{.Driver}}, cgroup driver {{.CgroupDriver}}")
	if err2 != nil || strings.HasPrefix(server, ",") {
		daemon.bad = "it does not answer: " + firstLine(errors.Join(err2, err))
		daemon.help = m.daemonHelp(ctx)
		return client, daemon
	}
	daemon.good = server
	return client, daemon
}

// daemonHelp describes how to get a running daemon. It may be missing although the client exists. Debian installs it where only root's PATH leads.
func (m machine) daemonHelp(ctx context.Context) []string {
	var help []string
	if _, err := m.run(ctx, "dockerd", "--version"); err != nil && !m.exists("/usr/sbin/dockerd") {
		help = append(help, "it is not installed, only the client is. Debian's package has it:  apt-get install --no-install-recommends docker.io")
	}
	return append(help,
		"where systemd runs:    systemctl start docker",
		"where it does not:     setsid dockerd > /var/log/dockerd.log 2>&1 < /dev/null &",
		"as another than root:  add yourself to the group docker",
	)
}

// privileged checks whether the daemon can grant all capabilities, which nodes need. It uses root's capabilities here and the runtime that
// starts containers, since trying would need an image.
func (m machine) privileged(ctx context.Context) finding {
	f := finding{what: "privileged containers"}
	if m.all {
		f.good = "root has all rights"
		return f
	}
	if name, err := m.run(ctx, "docker", "info", "--format", "{{.DefaultRuntime}}"); err == nil && name != "runc" {
		f.good = "root lacks CAP_SYS_RESOURCE, and Docker starts containers by " + name + ", which must spare it"
		return f
	}
	f.bad = "root lacks CAP_SYS_RESOURCE, which Docker gives to every privileged container: none starts"
	f.help = []string{
		"A program of ours stands in for runc and leaves out the rights that cannot be given. As root, from the checkout:",
		"  (cd e2e/nodeimage/programs && CGO_ENABLED=0 GOWORK=off go build -trimpath -o /usr/local/bin/runc-capped ./runc-capped)",
		"and in /etc/docker/daemon.json:",
		`  {"runtimes": {"runc-capped": {"path": "/usr/local/bin/runc-capped"}}, "default-runtime": "runc-capped"}`,
		"then have the daemon read it:  kill -HUP $(cat /var/run/docker.pid)",
		"kind cannot choose the runtime itself. Containers that run already stay as they are.",
	}
	return f
}

func (m machine) cgroups() finding {
	f := finding{what: "cgroups", good: "version 2"}
	if !m.exists("/sys/fs/cgroup/cgroup.controllers") {
		f.good = "version 1: works with the versions that are pinned, though Kubernetes and kind will give it up"
	}
	return f
}

func (m machine) disk(ctx context.Context) finding {
	const wanted = 8 << 30 // the image 0.5 GB, what it is built from 1 GB, Go's cache 5 GB, clusters 1 GB
	f := finding{what: "disk"}
	dir, err := m.run(ctx, "docker", "info", "--format", "{{.DockerRootDir}}")
	if err != nil {
		dir = "/"
	}
	free, err := m.free(dir)
	f.good = fmt.Sprintf("%d GB free at %s", free>>30, dir)
	if err == nil && free < wanted {
		f.bad = f.good + "; the first build takes up to 8 GB, later runs 1 GB"
		f.optional = free > 2<<30
	}
	return f
}

func (m machine) modules() finding {
	f := finding{what: "/lib/modules", good: "is there"}
	if !m.exists("/lib/modules") {
		f.bad, f.help = "kind mounts this folder into nodes, also if it is empty", []string{"mkdir -p /lib/modules"}
	}
	return f
}

func (m machine) inotify() finding {
	f := finding{what: "inotify"}
	for _, limit := range []struct {
		name string
		want int
	}{{"max_user_instances", 512}, {"max_user_watches", 65536}} {
		content, err := m.read("/proc/sys/fs/inotify/" + limit.name)
		value := 0
		if _, scanErr := fmt.Sscan(content, &value); err != nil || scanErr != nil || value >= limit.want {
			continue
		}
		f.optional = true
		f.bad = "limits are low: two nodes work, many may run out of them"
		f.help = append(f.help, fmt.Sprintf("sysctl -w fs.inotify.%s=%d   # it is %d", limit.name, limit.want, value))
	}
	if f.bad == "" {
		f.good = "limits are high enough"
	}
	return f
}

// sources checks what the build of a node image needs, if there is none yet. It is required if none can be pulled.
func (m machine) sources(ctx context.Context) []finding {
	pulled := m.registry(ctx)
	tools := finding{what: "Debian packages", good: "are there", optional: pulled}
	var missing []string
	for _, need := range nodeimage.Packages() {
		if _, err := m.run(ctx, need.Check[0], need.Check[1:]...); err != nil {
			missing = append(missing, need.Names)
		}
	}
	if len(missing) > 0 {
		tools.bad = "needed to build a node image, which is done where the official one cannot be pulled"
		tools.help = []string{"apt-get install --no-install-recommends " + strings.Join(missing, " ")}
	}
	user := finding{what: "root", good: "you are", optional: pulled}
	if !m.root {
		user.bad = "debootstrap takes it, to build a node image"
		user.help = []string{"sudo make kind-node-image   # once; or name an image that there is: " + nodeimage.Variable + "=..."}
	}
	return []finding{tools, user}
}

func firstLine(err error) string {
	if err == nil {
		return "no reason given"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
