package seednode

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// sandbox has the namespaces of a pod. A process that does nothing keeps them, and all is gone with it: mounts, and the pod's network interface.
type sandbox struct {
	keeper *process.Process
	chroot string
}

// sandboxTimeout bounds the creation of namespaces.
const sandboxTimeout = time.Minute

func newSandbox(ctx context.Context, p *pod) (*sandbox, error) {
	mounts, err := p.mounts()
	if err != nil {
		return nil, err
	}
	if err := createMountPoints(mounts); err != nil {
		return nil, fmt.Errorf("creating mount points: %w", err)
	}
	chroot, err := exec.LookPath("chroot")
	if err != nil {
		return nil, err
	}
	args := []string{"--uts", "--mount", "--propagation", "private"}
	if !p.object.Spec.HostNetwork {
		args = append(args, "--net")
	}
	output := filepath.Join(p.dir, "sandbox.log")
	args = append(args, "--", "/bin/sh", "-ec", mountScript(p.object.Name, mounts))
	keeper, err := process.Start("unshare", args, nil, output)
	if err != nil {
		return nil, err
	}
	s := &sandbox{keeper: keeper, chroot: chroot}
	ctx, cancel := context.WithTimeout(ctx, sandboxTimeout)
	defer cancel()
	if err := s.connect(ctx, p); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

const mounted = "mounted"

// connect waits until all is mounted, and connects the pod to the bridge.
func (s *sandbox) connect(ctx context.Context, p *pod) error {
	err := s.keeper.WaitFor(ctx, "the mounts of the pod", func(context.Context) error {
		if output, err := s.keeper.Output(); err != nil || !strings.HasSuffix(output, mounted+"\n") {
			return fmt.Errorf("not all is mounted: %w, %s", err, output)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("mounting volumes: %w", err)
	}
	if p.object.Spec.HostNetwork {
		return nil
	}
	script := `
ip link add "$1" type veth peer name eth0 netns "$2"
ip link set "$1" master "$3" up
nsenter --target "$2" --net -- /bin/sh -ec '
ip link set lo up
ip address add "$1" dev eth0
ip link set eth0 up
ip route add default via "$2"' sh "$4" "$5"`
	address := fmt.Sprintf("%s/%d", p.address, p.node.bridge.Bits())
	if err := command(
		ctx, "", "/bin/sh", "-ec", script, "sh", interfaceName(p), strconv.Itoa(s.keeper.PID()), p.node.Bridge, address, p.node.bridge.Addr().String(),
	); err != nil {
		return fmt.Errorf("connecting the pod to the bridge: %w", err)
	}
	return nil
}

// interfaceName is the name of the pod's network interface on this side.
func interfaceName(p *pod) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(p.object.UID)) // never fails
	return fmt.Sprintf("pod%08x", hash.Sum32())
}

func (s *sandbox) close() { s.keeper.Kill() }

// start starts a program in the pod's namespaces, with a root of its own. All is one process.
func (s *sandbox) start(root, program string, args, env []string, output string) (*process.Process, error) {
	prefix := []string{"--target", strconv.Itoa(s.keeper.PID()), "--net", "--uts", "--mount", "--", s.chroot, root, program}
	return process.StartBare("nsenter", append(prefix, args...), env, output)
}

// mountPoint is a file or folder that appears at a path.
type mountPoint struct {
	source, target string
	readOnly       bool
	recursive      bool
}

// mounts lists what is mounted into the roots of all containers, in order.
func (p *pod) mounts() ([]mountPoint, error) {
	var all []mountPoint
	for _, c := range p.all() {
		mounts, err := p.mountsOf(c)
		if err != nil {
			return nil, fmt.Errorf("mounting the volumes of container %s: %w", c.spec.Name, err)
		}
		all = append(all, mounts...)
	}
	return all, nil
}

// mountsOf lists the mounts of a container: its root itself, which may be read-only, and then paths before those below them.
func (p *pod) mountsOf(c *container) ([]mountPoint, error) {
	mounts := []mountPoint{{source: c.program, target: c.path(), readOnly: true}, {source: "/dev", target: "/dev", recursive: true}, {source: "/proc", target: "/proc", recursive: true}}
	for _, m := range c.spec.VolumeMounts {
		v, found := p.volumes[m.Name]
		if !found || m.SubPathExpr != "" {
			return nil, fmt.Errorf("mount path %s is %w", m.MountPath, kubelet.ErrUnsupported)
		}
		source := filepath.Join(v.dir, m.SubPath)
		if _, err := os.Stat(source); err != nil {
			if !isWritable(v.spec) {
				return nil, err
			}
			if err := os.MkdirAll(source, 0o777); err != nil {
				return nil, err
			}
		}
		mounts = append(mounts, mountPoint{source: source, target: path.Clean(m.MountPath), readOnly: m.ReadOnly || !isWritable(v.spec)})
	}
	slices.SortStableFunc(mounts, func(a, b mountPoint) int { return cmp.Compare(len(a.target), len(b.target)) })
	for i := range mounts {
		mounts[i].target = filepath.Join(c.root, mounts[i].target)
	}
	security := c.spec.SecurityContext
	readOnly := security != nil && security.ReadOnlyRootFilesystem != nil && *security.ReadOnlyRootFilesystem
	return append([]mountPoint{{source: c.root, target: c.root, readOnly: readOnly}}, mounts...), nil
}

// isWritable reports whether containers may write to a volume. A kubelet writes all others.
func isWritable(v *corev1.Volume) bool {
	return v.Secret == nil && v.ConfigMap == nil && v.Projected == nil && v.DownwardAPI == nil
}

// createMountPoints creates the targets of mounts: in the source of the mount that they are below, as this one hides what is at its own target.
func createMountPoints(mounts []mountPoint) error {
	sources := map[string]string{}
	for _, m := range mounts {
		point := m.target
		for _, above := range slices.SortedFunc(maps.Keys(sources), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
			if rest, below := strings.CutPrefix(m.target, above+"/"); below {
				point = filepath.Join(sources[above], rest)
				break
			}
		}
		sources[m.target] = m.source
		info, err := os.Stat(m.source)
		if err != nil {
			return err
		}
		if err := createMountPoint(point, info.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

func createMountPoint(point string, isDir bool) error {
	if _, err := os.Stat(point); err == nil {
		return nil
	}
	if isDir {
		return os.MkdirAll(point, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(point), 0o755); err != nil {
		return err
	}
	return os.WriteFile(point, nil, 0o644)
}

// mountScript makes mounts in new namespaces, and then waits for ever.
func mountScript(hostname string, mounts []mountPoint) string {
	lines := []string{"hostname " + quote(hostname)}
	for _, m := range mounts {
		how := "--bind"
		if m.recursive {
			how = "--rbind"
		}
		if m.readOnly {
			how += " -o ro"
		}
		lines = append(lines, fmt.Sprintf("mount %s %s %s", how, quote(m.source), quote(m.target)))
	}
	return strings.Join(append(lines, "echo "+mounted, "exec sleep infinity"), "\n")
}

// quote quotes a word for a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// command runs a program with an input.
func command(ctx context.Context, input, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}
