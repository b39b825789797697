package mcm

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// pod is a running pod: its containers by their names.
type pod struct {
	namespace, name, account string
	wanted                   []string
	dir                      string
	containers               map[string]*workload.Container
	started                  int
}

func newPod(found *corev1.Pod, dir string) *pod {
	p := &pod{
		namespace: found.Namespace, name: found.Name, account: found.Spec.ServiceAccountName, dir: dir,
		containers: map[string]*workload.Container{},
	}
	for _, container := range found.Spec.Containers {
		p.wanted = append(p.wanted, container.Name)
	}
	return p
}

// startMissing starts the containers that are not running.
func (p *pod) startMissing(ctx context.Context, pods *Pods) error {
	for _, name := range p.wanted {
		if c := p.containers[name]; c != nil {
			select {
			case <-c.Exited():
				c.Stop() // its files are cared for no longer
			default:
				continue
			}
		}
		started, err := p.run(ctx, pods, name)
		if err != nil {
			return err
		}
		p.containers[name] = started
	}
	return nil
}

func (p *pod) run(ctx context.Context, pods *Pods, name string) (*workload.Container, error) {
	program, flags, env := pods.options.Manager, map[string]string{}, map[string]string(nil)
	switch {
	case name == Manager:
	case strings.HasPrefix(name, prefix):
		program = pods.options.MachineController
		maps.Copy(flags, pods.options.Flags)
		env = pods.options.Env
	default:
		return nil, fmt.Errorf("pod %s has a container %s, which nobody knows here", p.name, name)
	}
	kubeconfig, err := pods.seed.KubeconfigOf(ctx, p.namespace, p.account)
	if err != nil {
		return nil, err
	}
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	maps.Copy(flags, shared(kubeconfig, address))
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of pod %s: %w", p.name, err)
	}
	p.started++
	run := workload.Run{
		Namespace: p.namespace, Deployment: Manager, Pod: p.name, Container: name, Program: program, Flags: flags, Env: env,
		Dir: filepath.Join(p.dir, fmt.Sprintf("%d-%s", p.started, name)),
	}
	if pods.named {
		run.Hostname = p.name
	}
	container, err := workload.RunContainer(ctx, pods.seed.Client, run)
	if err != nil {
		return nil, err
	}
	pods.outputs = append(pods.outputs, filepath.Join(run.Dir, "output"))
	return container, nil
}

// shared are flags with which processes can share a machine, and with which a leader is replaced soon.
func shared(kubeconfig, address string) map[string]string {
	host, port, _ := net.SplitHostPort(address)
	return map[string]string{
		"control-kubeconfig":          kubeconfig,
		"address":                     host,
		"port":                        port,
		"leader-elect-lease-duration": "3s",
		"leader-elect-renew-deadline": "2s",
		"leader-elect-retry-period":   "500ms",
	}
}

func (p *pod) stop() {
	for _, container := range p.containers {
		container.Stop()
	}
}

// CanRunTwice returns why two pods cannot run here: both programs identify themselves by their host name.
func CanRunTwice(ctx context.Context) error { return workload.CanNameHosts(ctx) }

func tail(path string, most int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
