package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/e2e/internal/seednode"
	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

const (
	// seedTimeout bounds the time until a Seed is ready, on a machine that compiles at the same time.
	seedTimeout = 20 * time.Minute
	// stopTimeout bounds the end of everything. What is left is killed with the process tree.
	stopTimeout = 2 * time.Minute
	// providerType is that of seeds and shoots.
	providerType = "openstack"
	// podsFolder is the folder of a seed with files and logs of pods.
	podsFolder = "pods"
)

// landscape is everything that runs.
type landscape struct {
	options
	report   *reporter
	standIns standIns

	programs   string
	containers containers
	garden     *gardener.Garden
	seeds      []*gardener.Seed
	shootsEtcd *envtest.Etcd
	admission  *controller.Controller

	// shootsCloud is nil without steps. openStack is what is behind it, nil for the fake.
	shootsCloud       *openstack.Cloud
	openStack         *stack.Stack
	openStackProgress *os.File

	// nodes are the nodes of seeds and the controllers that simulate others. nodesContext ends with the first that ends.
	nodes        *errgroup.Group
	nodesContext context.Context //nolint:containedctx // it belongs to nodes
	stopNodes    context.CancelFunc
}

// runIsolated starts everything, takes the steps and stops everything.
func runIsolated(ctx context.Context, o options, report *reporter) (err error) {
	for _, variable := range []string{"GOGC", "GOMEMLIMIT"} { // those of a compiler are nothing for servers
		if err := os.Unsetenv(variable); err != nil {
			return err
		}
	}
	l := &landscape{options: o, report: report}
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err)
		}
		cancel(nil)
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, l.stop(stopping))
	}()
	if err := l.start(ctx, cancel); err != nil {
		return err
	}
	if o.hasSteps() {
		err = l.runSteps(ctx)
	} else {
		l.standIns.print(report)
	}
	if o.keep && ctx.Err() == nil {
		if err != nil {
			report.Linef("failed: %v", err)
		}
		l.printAccess()
		<-ctx.Done()
	}
	return err
}

// start starts everything and waits until all Seeds are ready. It calls cancel when something ends later that must not.
func (l *landscape) start(ctx context.Context, cancel context.CancelCauseFunc) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	l.report.Linef("files and logs: %s", l.dir)
	var err error
	if l.programs, err = assets.Dir(); err != nil {
		return err
	}
	if l.containers, err = l.newContainers(); err != nil {
		return err
	}
	for _, one := range gardener.StandIns() {
		l.standIns.add(one)
	}
	for _, one := range seednode.StandIns() {
		l.standIns.add(one)
	}
	if l.hasSteps() {
		if err := l.startCloud(ctx); err != nil {
			return err
		}
	}
	if l.upgrades() {
		l.standIns.add(standin.StandIn{
			Name: "cloud-controller-manager of the previous version of Kubernetes", Reason: "one program is built, of the version that everything else has",
		})
	}
	if err := l.startClusters(ctx); err != nil {
		return err
	}
	registered := slices.DeleteFunc(registrations(), func(name string) bool { return name == l.without })
	if err := l.report.step("registrations: "+fmt.Sprint(registered), func() error { return l.register(ctx, registered) }); err != nil {
		return err
	}
	if err := l.report.step("our admission in the garden", func() error { return l.startAdmission(ctx) }); err != nil {
		return err
	}
	if err := l.startSeeds(ctx); err != nil {
		return err
	}
	go l.watch(ctx, cancel)
	for _, seed := range l.seeds {
		if err := l.awaitSeed(ctx, seed); err != nil {
			return err
		}
	}
	return l.printMemory()
}

// startSeeds starts the nodes and gardenlets of all seeds.
func (l *landscape) startSeeds(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stopNodes = stop
	l.nodes, l.nodesContext = errgroup.WithContext(running)
	for _, seed := range l.seeds {
		l.startNode(l.nodesContext, seed)
		if err := l.report.step("gardenlet of "+seed.Name, func() error { return seed.StartGardenlet(ctx, l.garden) }); err != nil {
			return err
		}
	}
	return nil
}

// startClusters starts garden and seeds side by side.
func (l *landscape) startClusters(ctx context.Context) error {
	var err error
	if l.shootsEtcd, err = gardener.StartShootsEtcd(l.programs, l.dir); err != nil {
		return err
	}
	specs := gardener.SeedSpecs()[:l.seedCount]
	l.seeds = make([]*gardener.Seed, len(specs))
	starting, startCtx := errgroup.WithContext(ctx)
	starting.Go(func() error {
		return l.report.step("garden: etcd, kube-apiserver, kube-controller-manager, gardener-apiserver, gardener-controller-manager", func() (err error) {
			l.garden, err = gardener.StartGarden(startCtx, l.programs, filepath.Join(l.dir, "garden"))
			return err
		})
	})
	for i, spec := range specs {
		spec.Provider = providerType
		starting.Go(func() error {
			return l.report.step(spec.Name+": etcd, kube-apiserver, kube-controller-manager", func() (err error) {
				l.seeds[i], err = gardener.StartSeed(startCtx, l.programs, filepath.Join(l.dir, spec.Name), spec)
				return err
			})
		})
	}
	err = starting.Wait()
	l.seeds = slices.DeleteFunc(l.seeds, func(s *gardener.Seed) bool { return s == nil })
	return err
}

// register applies the registrations as they are committed. One replica of each controller is enough.
func (l *landscape) register(ctx context.Context, names []string) error {
	for _, name := range names {
		path, err := repo.Path("charts", "registrations", name, "rawchart.yaml")
		if err != nil {
			return err
		}
		if err := l.garden.RegisterFile(ctx, path, map[string]any{"replicaCount": int64(1)}); err != nil {
			return err
		}
	}
	return l.garden.RegisterSimulated(ctx)
}

// startNode starts the node of a seed, and what answers for controllers that do not run.
func (l *landscape) startNode(ctx context.Context, seed *gardener.Seed) {
	l.nodes.Go(func() error { return gardener.RunStandIns(ctx, seed) })
	l.nodes.Go(func() error {
		log, err := os.Create(filepath.Join(seed.Dir, "node.log"))
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }()
		return seednode.Run(ctx, seednode.Config{
			REST: seed.Config, NodeName: seed.NodeName(), Programs: l.containers.program, Dir: filepath.Join(seed.Dir, podsFolder), Hosts: seed.Hosts,
			PodRange: seed.Spec.Pods, Bridge: seed.Spec.Bridge.Name, Log: log, Overrides: gardener.ShootArgs,
			OnStandIn: l.standIns.add,
		})
	})
}

func (l *landscape) awaitSeed(ctx context.Context, seed *gardener.Seed) error {
	ctx, cancel := context.WithTimeout(ctx, seedTimeout)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go l.watchInstallations(ctx, seed, fail)
	if err := seed.AwaitReady(ctx, l.garden, func(progress string) { l.report.Linef("  %s: %s", seed.Name, progress) }); err != nil {
		return err
	}
	l.report.Linef("Seed %s is ready", seed.Name)
	return l.awaitInstallations(ctx, seed)
}

// stop stops everything, the clients of API servers before them.
func (l *landscape) stop(ctx context.Context) error {
	start := time.Now()
	var failures []error
	for _, seed := range l.seeds {
		seed.StopGardenlet(ctx)
	}
	if l.stopNodes != nil {
		l.stopNodes()
		if err := l.nodes.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			failures = append(failures, err)
		}
	}
	if l.admission != nil {
		l.admission.End(ctx)
	}
	for _, seed := range l.seeds {
		failures = append(failures, seed.Stop(ctx))
	}
	if l.garden != nil {
		failures = append(failures, l.garden.Stop(ctx))
	}
	if l.shootsEtcd != nil {
		failures = append(failures, l.shootsEtcd.Stop())
	}
	failures = append(failures, l.stopCloud(ctx))
	l.report.Linef("everything has ended (%.1f s)", time.Since(start).Seconds())
	return errors.Join(failures...)
}

// printAccess prints how to reach the clusters from another terminal.
func (l *landscape) printAccess() {
	kubectl := filepath.Join(l.programs, "kubectl")
	l.report.Linef("everything runs until Ctrl-C. To look around, as root:")
	l.report.Linef("  nsenter -t $(pgrep -n -f 'landscape.*%s') --net --mount --pid %s --kubeconfig %s get seeds", l.dir, kubectl, l.garden.Kubeconfig)
	for _, seed := range l.seeds {
		l.report.Linef("  the same with --kubeconfig %s", seed.Kubeconfig)
	}
}
