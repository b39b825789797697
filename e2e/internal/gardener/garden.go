package gardener

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	controllermanagerconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/controllermanager/v1alpha1"
	"github.com/gardener/gardener/pkg/apiserver"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	componentbaseconfigv1alpha1 "k8s.io/component-base/config/v1alpha1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// frontProxy is the user with which kube-apiserver passes requests on.
	frontProxy        = "front-proxy-client"
	gardenerAPIServer = "gardener-apiserver"
	controllerManager = "gardener-controller-manager"

	interval = 100 * time.Millisecond
	// admissionTimeout bounds the delay of the caches of gardener-apiserver's admission plugins.
	admissionTimeout = 30 * time.Second
)

// Garden is a garden cluster. Its clients know Gardener's kinds.
type Garden struct {
	*Cluster
	clients *authority // of users with certificates
}

// StartGarden starts a garden from the programs in the folder programs, with the project garden, and waits until it is ready. Its files
// are in the new folder dir.
func StartGarden(ctx context.Context, programs, dir string) (*Garden, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of the garden: %w", err)
	}
	clients, err := newAuthority(dir, "client-ca")
	if err != nil {
		return nil, err
	}
	proxies, err := newAuthority(dir, "front-proxy-ca")
	if err != nil {
		return nil, err
	}
	proxy, err := proxies.issueClient(frontProxy, frontProxy)
	if err != nil {
		return nil, err
	}
	cluster, err := startCluster(ctx, programs, clusterOptions{
		name: "garden", dir: dir, api: gardenAPI, etcd: etcdOfGarden, services: netip.MustParsePrefix(gardenServices), scheme: kubernetes.GardenScheme,
		args: []string{
			"--client-ca-file=" + clients.path,
			"--requestheader-client-ca-file=" + proxies.path,
			"--requestheader-allowed-names=" + frontProxy,
			"--proxy-client-cert-file=" + proxy.crt,
			"--proxy-client-key-file=" + proxy.key,
		},
	})
	if err != nil {
		return nil, err
	}
	g := &Garden{Cluster: cluster, clients: clients}
	for _, start := range []func(context.Context) error{g.startAPIServer, g.createObjects, g.startControllerManager} {
		if err := start(ctx); err != nil {
			return nil, errors.Join(err, g.Stop(ctx))
		}
	}
	return g, nil
}

// Stop stops all processes of the garden.
func (g *Garden) Stop(ctx context.Context) error { return g.stop(ctx) }

// Ended returns an error if a program of the garden has ended by itself.
func (g *Garden) Ended() error { return g.processes.ended() }

// startAPIServer starts gardener-apiserver, and has kube-apiserver pass requests of Gardener's API groups on to it.
func (g *Garden) startAPIServer(ctx context.Context) error {
	servers, err := newAuthority(g.Dir, gardenerAPIServer+"-ca")
	if err != nil {
		return err
	}
	serving, err := servers.issueServer(gardenerAPIServer, gardenerAPIServer+".kube-system.svc")
	if err != nil {
		return err
	}
	port := strconv.Itoa(gardenerAPIPort)
	started, err := g.startProcess(gardenerAPIServer, filepath.Join(g.programs, gardenerAPIServer), []string{
		"--etcd-servers=" + g.etcd.URL.String(), "--etcd-prefix=/registry-gardener",
		"--bind-address=127.0.0.1", "--secure-port=" + port, "--tls-cert-file=" + serving.crt, "--tls-private-key-file=" + serving.key,
		"--kubeconfig=" + g.Kubeconfig, "--authentication-kubeconfig=" + g.Kubeconfig, "--authorization-kubeconfig=" + g.Kubeconfig,
		"--authorization-always-allow-paths=/healthz,/readyz", "--cluster-identity=landscape", "--log-level=info", "--log-format=text",
	}, nil)
	if err != nil {
		return err
	}
	if err := started.WaitForTLS(ctx, "https://127.0.0.1:"+port+"/healthz"); err != nil {
		return fmt.Errorf("starting %s: %w", gardenerAPIServer, err)
	}
	return g.aggregate(ctx, servers.ca.CertificatePEM)
}

// aggregate registers gardener-apiserver and waits until kube-apiserver reaches it.
func (g *Garden) aggregate(ctx context.Context, ca []byte) error {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: gardenerAPIServer, Namespace: metav1.NamespaceSystem},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if err := g.Client.Create(ctx, service); err != nil {
		return fmt.Errorf("creating the Service of %s: %w", gardenerAPIServer, err)
	}
	for _, version := range apiserver.AllGardenerAPIGroupVersions {
		if err := g.Client.Create(ctx, apiService(version, ca)); err != nil {
			return fmt.Errorf("registering %s for %s: %w", gardenerAPIServer, version, err)
		}
	}
	asked, err := discovery.NewDiscoveryClientForConfig(g.Config)
	if err != nil {
		return fmt.Errorf("creating a client for discovery: %w", err)
	}
	for _, version := range apiserver.AllGardenerAPIGroupVersions {
		if err := await(ctx, interval, version.String(), func(context.Context) error {
			// kube-apiserver passes requests on a moment after the condition Available says so.
			_, err := asked.ServerResourcesForGroupVersion(version.String())
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func apiService(version schema.GroupVersion, ca []byte) *apiregistrationv1.APIService {
	priority := int32(20)
	if version.Version == "v1" {
		priority = 15
	}
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: version.Version + "." + version.Group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: version.Group, Version: version.Version, GroupPriorityMinimum: 10000, VersionPriority: priority, CABundle: ca,
			Service: &apiregistrationv1.ServiceReference{Name: gardenerAPIServer, Namespace: metav1.NamespaceSystem, Port: new(int32(gardenerAPIPort))},
		},
	}
}

// startControllerManager starts gardener-controller-manager.
func (g *Garden) startControllerManager(ctx context.Context) error {
	config := controllermanagerconfigv1alpha1.ControllerManagerConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: controllermanagerconfigv1alpha1.SchemeGroupVersion.String(), Kind: "ControllerManagerConfiguration",
		},
		GardenClientConnection: componentbaseconfigv1alpha1.ClientConnectionConfiguration{QPS: 100, Burst: 130},
		Controllers: controllermanagerconfigv1alpha1.ControllerManagerControllerConfiguration{
			Seed:                &controllermanagerconfigv1alpha1.SeedControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 2 * time.Second}},
			SeedExtensionsCheck: &controllermanagerconfigv1alpha1.SeedExtensionsCheckControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 2 * time.Second}},
		},
		LeaderElection: &componentbaseconfigv1alpha1.LeaderElectionConfiguration{LeaderElect: new(false)},
		LogLevel:       "info", LogFormat: "text",
	}
	health, err := freeServer()
	if err != nil {
		return err
	}
	metrics, err := freeServer()
	if err != nil {
		return err
	}
	config.Server.HealthProbes = &controllermanagerconfigv1alpha1.Server{BindAddress: health.host, Port: health.port}
	config.Server.Metrics = &controllermanagerconfigv1alpha1.Server{BindAddress: metrics.host, Port: metrics.port}
	path, err := writeConfig(g.Dir, controllerManager, config)
	if err != nil {
		return err
	}
	started, err := g.startProcess(controllerManager, filepath.Join(g.programs, controllerManager), []string{"--config=" + path}, []string{"KUBECONFIG=" + g.Kubeconfig})
	if err != nil {
		return err
	}
	if err := started.WaitForOK(ctx, "http://"+health.String()+"/readyz"); err != nil {
		return fmt.Errorf("starting %s: %w", controllerManager, err)
	}
	return nil
}

// server is an address that a program listens on.
type server struct {
	host string
	port int
}

func (s server) String() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

func freeServer() (server, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return server{}, err
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return server{}, err
	}
	port, err := strconv.Atoi(text)
	return server{host: host, port: port}, err
}

// writeConfig writes a program's configuration and returns its path.
func writeConfig(dir, name string, config any) (string, error) {
	content, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("encoding the configuration of %s: %w", name, err)
	}
	path := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the configuration of %s: %w", name, err)
	}
	return path, nil
}

// await repeats a check until it returns no error, or the context ends.
func await(ctx context.Context, interval time.Duration, what string, check func(context.Context) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last: %w", what, context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}
