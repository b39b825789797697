// Package grm runs gardener-resource-manager with gardenlet's configuration: one for a seed, and one for each shoot in it. It must not depend on
// the content of ManagedResources.
package grm

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	resourcemanagerconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/resourcemanager/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// Name is the name of the program.
const Name = "gardener-resource-manager"

// period is the shortest interval of checks of a ManagedResource that the program accepts. It acts at once on what it watches: ManagedResources,
// their Secrets, and the health of what it applied.
const period = 15 * time.Second

// ForSeed starts the seed's one, from the programs in the folder programs, and waits until it is ready. It applies ManagedResources of the class
// "seed" of all namespaces to the seed itself, and collects garbage there. Its files are in the new folder dir.
func ForSeed(ctx context.Context, programs, dir, seed string) (*process.Process, error) {
	config := configuration()
	config.Controllers.ResourceClass = new(v1beta1constants.SeedResourceManagerClass)
	return start(ctx, programs, dir, config, seed, seed)
}

// ForShoot starts a shoot's one: it applies ManagedResources without a class of the shoot's namespace in the seed to the shoot, collects garbage
// there, and fills Secrets of that namespace with tokens for the shoot. The seed and the shoot are given by administrators' kubeconfigs. See
// ForSeed for the rest.
func ForShoot(ctx context.Context, programs, dir, seed, namespace, shoot string) (*process.Process, error) {
	config := configuration()
	config.SourceClientConnection.Namespaces = []string{namespace}
	config.Controllers.TokenRequestor.Enabled = true
	return start(ctx, programs, dir, config, seed, shoot)
}

// configuration is common to both.
func configuration() *resourcemanagerconfigv1alpha1.ResourceManagerConfiguration {
	config := &resourcemanagerconfigv1alpha1.ResourceManagerConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: resourcemanagerconfigv1alpha1.SchemeGroupVersion.String(), Kind: "ResourceManagerConfiguration",
		},
		LogLevel: "info", LogFormat: "text",
	}
	// No other program uses the API servers as much, and all tests wait for it.
	config.SourceClientConnection.QPS, config.SourceClientConnection.Burst = 500, 1000
	config.TargetClientConnection = &resourcemanagerconfigv1alpha1.ClientConnection{}
	config.TargetClientConnection.QPS, config.TargetClientConnection.Burst = 500, 1000
	config.LeaderElection.LeaderElect = new(false)
	config.Controllers.ClusterID = new("seed")
	config.Controllers.GarbageCollector = resourcemanagerconfigv1alpha1.GarbageCollectorControllerConfig{
		Enabled: true, SyncPeriod: &metav1.Duration{Duration: period},
	}
	config.Controllers.Health.SyncPeriod = &metav1.Duration{Duration: period}
	config.Controllers.ManagedResource.SyncPeriod = &metav1.Duration{Duration: period}
	return config
}

func start(
	ctx context.Context, programs, dir string, config *resourcemanagerconfigv1alpha1.ResourceManagerConfiguration, source, target string,
) (*process.Process, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of %s: %w", Name, err)
	}
	if err := listen(config, dir); err != nil {
		return nil, fmt.Errorf("configuring %s: %w", Name, err)
	}
	content, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of %s: %w", Name, err)
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of %s: %w", Name, err)
	}
	p, err := process.Start(
		filepath.Join(programs, Name), []string{"--config=" + path}, []string{"KUBECONFIG=" + source, "TARGET_KUBECONFIG=" + target},
		filepath.Join(dir, Name+".log"),
	)
	if err != nil {
		return nil, err
	}
	health := net.JoinHostPort(config.Server.HealthProbes.BindAddress, strconv.Itoa(config.Server.HealthProbes.Port))
	if err := p.WaitForOK(ctx, "http://"+health+"/readyz"); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting %s: %w", Name, err)
	}
	return p, nil
}

// listen sets free addresses, and a certificate for its webhooks. It serves them, but no API server calls them.
func listen(config *resourcemanagerconfigv1alpha1.ResourceManagerConfiguration, dir string) error {
	config.Server.HealthProbes = &resourcemanagerconfigv1alpha1.Server{}
	config.Server.Metrics = &resourcemanagerconfigv1alpha1.Server{}
	for _, server := range []*resourcemanagerconfigv1alpha1.Server{
		config.Server.HealthProbes, config.Server.Metrics, &config.Server.Webhooks.Server,
	} {
		address, err := process.FreeAddress()
		if err != nil {
			return err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		server.BindAddress = host
		if server.Port, err = strconv.Atoi(port); err != nil {
			return err
		}
	}
	config.Server.Webhooks.TLS.ServerCertDir = dir
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)
}
