package gardener

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const (
	gardenlet      = "gardenlet"
	gardenerModule = "github.com/gardener/gardener"
)

// Seed is a seed cluster. Its clients know the kinds of seeds.
type Seed struct {
	*Cluster
	Spec SeedSpec
	// Hosts is the file with the names of all Services that gardenlet has as /etc/hosts. The seed's node writes it in place.
	Hosts string
}

// StartSeed starts the cluster of a seed, without its node and its gardenlet. Its files are in the new folder dir.
func StartSeed(ctx context.Context, programs, dir string, spec SeedSpec) (*Seed, error) {
	cluster, err := startCluster(ctx, programs, clusterOptions{
		name: spec.Name, dir: dir, api: spec.API.String(), etcd: spec.Etcd.String(), services: spec.Services, scheme: kubernetes.SeedScheme,
	})
	if err != nil {
		return nil, err
	}
	s := &Seed{Cluster: cluster, Spec: spec, Hosts: filepath.Join(dir, "hosts")}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// Stop stops all processes of the seed.
func (s *Seed) Stop(ctx context.Context) error { return s.stop(ctx) }

// StopGardenlet stops the gardenlet before the rest of the seed.
func (s *Seed) StopGardenlet(ctx context.Context) { s.processes.stopNamed(ctx, gardenlet) }

// Ended returns an error if a program of the seed has ended by itself.
func (s *Seed) Ended() error { return s.processes.ended() }

// NodeName is the name of the only node.
func (s *Seed) NodeName() string { return s.Name + "-node" }

// prepare creates what gardenlet expects to find: the kinds of VerticalPodAutoscaler, which a cluster has whose Seed does not ask gardenlet for
// them, and of ManagedResources; the PriorityClass that comes with gardenlet's chart; and a node in the zone of the Seed.
func (s *Seed) prepare(ctx context.Context) error {
	source, err := repo.ModuleDir(ctx, gardenerModule)
	if err != nil {
		return err
	}
	crds := filepath.Join(source, "example", "seed-crds")
	if _, err := envtest.InstallCRDs(s.Config, envtest.CRDInstallOptions{ErrorIfPathMissing: true, Paths: []string{
		filepath.Join(crds, "10-crd-autoscaling.k8s.io_verticalpodautoscalers.yaml"),
		filepath.Join(crds, "10-crd-autoscaling.k8s.io_verticalpodautoscalercheckpoints.yaml"),
		filepath.Join(crds, "10-crd-resources.gardener.cloud_managedresources.yaml"),
	}}); err != nil {
		return fmt.Errorf("creating CRDs in %s: %w", s.Name, err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.NodeName(), Labels: map[string]string{
		corev1.LabelTopologyRegion: Region, corev1.LabelTopologyZone: Zone,
	}}}
	critical := &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.PriorityClassNameSeedSystemCritical}, Value: 999998950,
		Description: "This class is used to ensure that the gardenlet has a high priority and is not preempted in favor of other pods.",
	}
	for _, object := range []client.Object{node, critical} {
		if err := s.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s in %s: %w", object, object.GetName(), s.Name, err)
		}
	}
	content, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return err
	}
	return os.WriteFile(s.Hosts, content, 0o600)
}

// StartGardenlet starts the seed's gardenlet, which registers the Seed in the garden. AwaitReady waits for it.
func (s *Seed) StartGardenlet(ctx context.Context, garden *Garden) error {
	health, err := freeServer()
	if err != nil {
		return err
	}
	config, err := s.gardenletConfig(health)
	if err != nil {
		return err
	}
	path, err := writeConfig(s.Dir, gardenlet, config)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(s.Dir, "gardenlet.kubeconfig")
	client, err := garden.clients.issueClient("gardenlet-"+s.Name, v1beta1constants.SeedUserNamePrefix+s.Name, v1beta1constants.SeedsGroup)
	if err != nil {
		return err
	}
	if err := writeKubeconfig(kubeconfig, garden.Config, client); err != nil {
		return fmt.Errorf("writing the kubeconfig of the gardenlet of %s: %w", s.Name, err)
	}
	// gardenlet reaches a shoot's API server by the name of its Service: it has a mount namespace of its own with the names of its seed.
	started, err := s.startProcess(gardenlet, "unshare", []string{
		"--mount", "sh", "-ec", `mount --bind "$1" /etc/hosts && exec "$2" --config="$3"`, gardenlet,
		s.Hosts, filepath.Join(s.programs, gardenlet), path,
	}, []string{"GARDEN_KUBECONFIG=" + kubeconfig, "KUBECONFIG=" + s.Kubeconfig})
	if err != nil {
		return err
	}
	if err := started.WaitForOK(ctx, "http://"+health.String()+"/healthz"); err != nil {
		return fmt.Errorf("starting the gardenlet of %s: %w", s.Name, err)
	}
	return nil
}

// Progress describes the state of the Seed in the garden, with an error as long as it is not ready for shoots.
func (s *Seed) Progress(ctx context.Context, garden *Garden) (string, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := garden.Client.Get(ctx, client.ObjectKey{Name: s.Name}, seed); err != nil {
		return "", err
	}
	operation := seed.Status.LastOperation
	if operation == nil {
		return "", errors.New("gardenlet has not begun to reconcile the Seed")
	}
	firstLine, _, _ := strings.Cut(operation.Description, "\n")
	progress := fmt.Sprintf("%d%% %s", operation.Progress, firstLine)
	if operation.State != gardencorev1beta1.LastOperationStateSucceeded {
		return progress, fmt.Errorf("its operation is %s: %s", operation.State, operation.Description)
	}
	var problems []string
	for _, wanted := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.GardenletReady, gardencorev1beta1.SeedExtensionsReady, gardencorev1beta1.SeedSystemComponentsHealthy,
	} {
		condition := v1beta1helper.GetCondition(seed.Status.Conditions, wanted)
		switch {
		case condition == nil:
			problems = append(problems, string(wanted)+" is not there")
		case condition.Status != gardencorev1beta1.ConditionTrue:
			problems = append(problems, fmt.Sprintf("%s is %s: %s", wanted, condition.Status, condition.Message))
		}
	}
	if len(problems) > 0 {
		return progress, errors.New(strings.Join(problems, "; "))
	}
	return progress, nil
}

// AwaitReady waits until the Seed is ready for shoots, and calls report whenever its progress changes.
func (s *Seed) AwaitReady(ctx context.Context, garden *Garden, report func(progress string)) error {
	var last string
	return await(ctx, time.Second, "Seed "+s.Name, func(ctx context.Context) error {
		progress, err := s.Progress(ctx, garden)
		if progress != "" && progress != last {
			report(progress)
			last = progress
		}
		return err
	})
}
