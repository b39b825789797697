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

// machine is what can be asked about this one.
type machine struct {
	// run runs a program and returns what it prints.
	run func(ctx context.Context, name string, args ...string) (string, error)
	// read returns the content of a file.
	read func(path string) (string, error)
	// exists reports whether there is a file or folder.
	exists func(path string) bool
	// free returns the bytes that are left where a folder is.
	free func(path string) (uint64, error)
	// image returns the name of a node image that is there, or nothing; registry reports whether one could be pulled.
	image    func(ctx context.Context) string
	registry func(ctx context.Context) bool
	// root reports whether we are it, all whether root has all rights here.
	root, all bool
}

// finding is what one look at the machine gave.
type finding struct {
	what string
	// good says what there is. Otherwise bad says what is missing, and help, line by line, what to do about it.
	good, bad string
	help      []string
	// optional is what one can do without.
	optional bool
}

// reportNeeds looks at this machine and fails if clusters cannot be made on it.
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

// checkMachine asks one thing after another. What depends on Docker is not asked where there is none.
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

// daemonHelp tells how to get a daemon that answers. It may be missing though the client is there. Debian has it where others than root do not look.
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

// privileged tells whether the daemon may give all rights away: nodes take that. It judges by the rights of root here and by the
// runtime that starts containers; to try it, there would have to be an image first.
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

// sources are what the build of a node image takes, where there is none yet. They are essential where none can be pulled.
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
