// Package controller builds our controllers from this checkout and runs them as processes. It knows their command lines and the rights that
// their charts give them. It must not depend on their code.
package controller

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// SourcesVariable is the environment variable by which make test names the state of the binaries' sources. go test does not see them, and would
// use a cached result for a changed binary.
const SourcesVariable = "TRELLIS_SOURCES"

// Binary is one of our controllers.
type Binary struct {
	// Name is the name of the binary, of its user and of its namespace.
	Name string
	// Command is the name of the binary if another one is the user's.
	Command string
	// Types are the provider types that it serves, and ObservedTypes those that a secondary observes; default all.
	Types, ObservedTypes []string
	// Role has the controller's rights in a seed, from its chart. Tests run with these rights only.
	Role seed.Role
	// Args are arguments besides those that all controllers have.
	Args []string
	// Module is the folder of the module that has the binary; empty for the root module.
	Module string
	// Overlay is a file for go build -overlay, which replaces source files of the binary; empty for none.
	Overlay string
}

// Build builds the binary as it is released, except for the names of source files in it, and returns its path. It is not linked again if
// nothing has changed. Tests of several packages that run the same binary wait for each other.
func (b Binary) Build(ctx context.Context) (string, error) {
	return b.build(ctx, b.command(), "CGO_ENABLED=0", "-ldflags", "-s -w")
}

// BuildWithRaceDetector builds a binary that fails on a data race, and returns its path.
func (b Binary) BuildWithRaceDetector(ctx context.Context) (string, error) {
	return b.build(ctx, b.command()+"-race", "CGO_ENABLED=1", "-race")
}

// Path is the path of the binary that Build builds.
func (b Binary) Path() (string, error) { return repo.Path(".cache", "e2e", b.command()) }

func (b Binary) command() string { return cmp.Or(b.Command, b.Name) }

func (b Binary) build(ctx context.Context, name, cgo string, flags ...string) (string, error) {
	_ = os.Getenv(SourcesVariable) // noted by go test
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".cache", "e2e")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the folder of the binaries: %w", err)
	}
	unlock, err := repo.Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if b.Overlay != "" {
		name, flags = name+"-overlay", append(flags, "-overlay", b.Overlay)
	}
	path := filepath.Join(dir, name)
	args := slices.Concat([]string{"build", "-o", path}, flags, []string{"./cmd/" + b.command()})
	if _, err := repo.Go(ctx, filepath.Join(root, b.Module), []string{cgo}, args...); err != nil {
		return "", fmt.Errorf("building %s: %w", b.command(), err)
	}
	return path, nil
}

// Options configure a controller process.
type Options struct {
	// Path is the path of the binary, Kubeconfig that of its kubeconfig.
	Path, Kubeconfig string
	// Output is the path of a file for its logs.
	Output string
	// LogFormat is json or text; default text.
	LogFormat string
	// LogLevel is debug, info or error; default debug.
	LogLevel string
	// Concurrency is the number of concurrent reconciliations; 0 is the controller's default.
	Concurrency int
	// LeaderElection enables leader election.
	LeaderElection bool
	// Args are appended to the command line, e.g. the address of a webhook.
	Args []string
	// Env is added to the environment.
	Env []string
}

// Controller is a running controller.
type Controller struct {
	*process.Process
	// MetricsURL is the URL of the metrics, Log the path of the log.
	MetricsURL, Log string
}

// Start starts the controller and waits until it is ready.
func (b Binary) Start(ctx context.Context, options Options) (*Controller, error) {
	health, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	// The settings of a test's own compilers must not change what a controller needs.
	environment := slices.Concat([]string{"GOGC=", "GOMEMLIMIT="}, options.Env)
	p, err := process.Start(options.Path, b.args(options, health, metrics), environment, options.Output)
	if err != nil {
		return nil, err
	}
	if err := p.WaitForOK(ctx, "http://"+health+"/readyz"); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting %s: %w", b.Name, err)
	}
	return &Controller{Process: p, MetricsURL: "http://" + metrics + "/metrics", Log: options.Output}, nil
}

func (b Binary) args(o Options, health, metrics string) []string {
	args := []string{
		"--kubeconfig=" + o.Kubeconfig,
		"--types=" + strings.Join(b.Types, ","),
		"--health-bind-address=" + health,
		"--metrics-bind-address=" + metrics,
		"--heartbeat-namespace=" + b.Name,
		"--leader-election=" + strconv.FormatBool(o.LeaderElection),
		"--leader-election-namespace=" + b.Name,
		"--log-level=" + cmp.Or(o.LogLevel, "debug"),
		"--log-format=" + cmp.Or(o.LogFormat, "text"),
	}
	if o.Concurrency > 0 {
		args = append(args, "--max-concurrent-reconciles="+strconv.Itoa(o.Concurrency))
	}
	return slices.Concat(args, b.Args, o.Args)
}
