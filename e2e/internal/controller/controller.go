// Package controller builds the infrastructure-controller from this checkout and runs it as the process that it is in a
// seed. It knows the binary's command line and the rights it needs, and nothing of what is inside.
package controller

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// Name is the name of the binary, of its user and of its namespace.
const Name = "infrastructure-controller"

// SourcesVariable is the environment variable by which make test tells what the binary is built from. go test does not
// see that by itself, and would take the result of an earlier run for that of a changed binary.
const SourcesVariable = "TRELLIS_SOURCES"

// Build builds the binary as it is shipped, or with the race detector, and returns its path. Nothing is linked again when
// nothing changed.
func Build(ctx context.Context, race bool) (string, error) {
	_ = os.Getenv(SourcesVariable) // noted by go test
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "e2e", Name)
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}
	cgo := "CGO_ENABLED=0"
	if race {
		path += "-race"
		args = []string{"build", "-race", "-o", path}
		cgo = "CGO_ENABLED=1"
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/"+Name)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", cgo)
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", Name, err, output)
	}
	return path, nil
}

// Role lists the rights that the controller has in a seed. The tests run with these and no others.
func Role() seed.Role {
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	return seed.Role{
		Cluster: []rbacv1.PolicyRule{
			rule("extensions.gardener.cloud", "infrastructures", "get", "list", "watch", "patch"),
			rule("extensions.gardener.cloud", "infrastructures/status", "patch"),
			rule("extensions.gardener.cloud", "clusters", "get"),
			rule("", "secrets", "get"),
			rule("events.k8s.io", "events", "create", "patch"),
		},
		Namespace: []rbacv1.PolicyRule{
			rule("coordination.k8s.io", "leases", "get", "create", "update", "patch"),
			rule("", "events", "create", "patch"),
		},
	}
}

// Options say how the controller runs.
type Options struct {
	// Binary and Kubeconfig are paths.
	Binary, Kubeconfig string
	// Output is the path of a file that takes the logs.
	Output string
	// LogFormat is json or text; text unless given.
	LogFormat string
	// Concurrency is the number of objects worked on at the same time; 0 leaves the default.
	Concurrency int
	// LeaderElection switches it on.
	LeaderElection bool
	// Env is added to the environment.
	Env []string
}

// Controller is a running controller.
type Controller struct {
	*process.Process
	// MetricsURL is where Prometheus would look.
	MetricsURL string
}

// Start starts the controller and waits until it says that it is ready.
func Start(ctx context.Context, options Options) (*Controller, error) {
	health, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	p, err := process.Start(options.Binary, options.args(health, metrics), options.Env, options.Output)
	if err != nil {
		return nil, err
	}
	if err := p.WaitForOK(ctx, "http://"+health+"/readyz"); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting %s: %w", Name, err)
	}
	return &Controller{Process: p, MetricsURL: "http://" + metrics + "/metrics"}, nil
}

func (o Options) args(health, metrics string) []string {
	args := []string{
		"--kubeconfig=" + o.Kubeconfig,
		"--types=openstack",
		"--health-bind-address=" + health,
		"--metrics-bind-address=" + metrics,
		"--heartbeat-namespace=" + Name,
		"--leader-election=" + strconv.FormatBool(o.LeaderElection),
		"--leader-election-namespace=" + Name,
		"--log-level=debug",
		"--log-format=" + cmp.Or(o.LogFormat, "text"),
	}
	if o.Concurrency > 0 {
		args = append(args, "--max-concurrent-reconciles="+strconv.Itoa(o.Concurrency))
	}
	return args
}
