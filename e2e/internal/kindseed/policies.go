package kindseed

import (
	"context"
	"errors"
	"fmt"

	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controller/networkpolicy/hostnameresolver"
	"github.com/gardener/gardener/pkg/gardenlet/controller/networkpolicy"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// policies is gardenlet's controller of NetworkPolicies, in this process.
type policies struct {
	end   context.CancelFunc
	ended chan error
}

// startPolicies runs the controller that denies all connections in Gardener's namespaces except those that pods are labeled for.
func (env *Env) startPolicies(ctx context.Context) error {
	networks, err := env.networks(ctx)
	if err != nil {
		return err
	}
	mgr, err := manager.New(env.Config, manager.Options{
		Scheme:     kubernetes.SeedScheme,
		Logger:     logr.Discard(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return fmt.Errorf("preparing gardenlet's controller of network policies: %w", err)
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	settings := gardenletconfigv1alpha1.NetworkPolicyControllerConfiguration{ConcurrentSyncs: new(5)}
	// The API server's address is an IP address, so there is no name to resolve.
	if err := networkpolicy.AddToManager(ctx, mgr, end, mgr, settings, networks, hostnameresolver.NewNoOpProvider()); err != nil {
		end()
		return fmt.Errorf("preparing gardenlet's controller of network policies: %w", err)
	}
	env.policies = &policies{end: end, ended: make(chan error, 1)}
	go func() { env.policies.ended <- mgr.Start(running) }()
	select {
	case <-mgr.Elected(): // once it works
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case err := <-env.policies.ended:
		env.policies = nil
		return errors.Join(errors.New("gardenlet's controller of network policies has ended"), err)
	}
}

func (p *policies) stop() error {
	p.end()
	return <-p.ended
}
