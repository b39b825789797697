package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/observer"
)

// rolloutGrace is how long the pods of a Deployment may be replaced before that is reported. Gardener's own health checks report it after an hour.
const rolloutGrace = 10 * time.Minute

// workload is a Deployment or DaemonSet with the images of its containers.
type workload struct {
	kind, name string
	images     []containerImage
}

type containerImage struct{ container, image string }

func (w workload) image(container string) string {
	index := slices.IndexFunc(w.images, func(i containerImage) bool { return i.container == container })
	if index < 0 {
		return ""
	}
	return w.images[index].image
}

// observeVersions compares the Deployments in the seed, and the manifests of the DaemonSets in the shoot, with what this version of the primary would deploy.
// There is no finding if another extension has deployed them.
func observeVersions(
	ctx context.Context, driver Driver, images images.Vector, input observer.Input[*extensionsv1alpha1.ControlPlane],
) (*observer.Finding, error) {
	object := input.Object
	manifests, own, err := managedresource.OwnContent(ctx, input.Reader, client.ObjectKey{Namespace: object.Namespace, Name: resourceShoot},
		map[string]string{labelOwner: object.Name})
	if err != nil || !own {
		return nil, err
	}
	wanted, err := wantedWorkloads(ctx, driver, images, input)
	if err != nil {
		return nil, err
	}
	found, err := daemonSetsIn(manifests)
	if err != nil {
		return nil, err
	}
	var rollouts []string
	for _, one := range wanted {
		if one.kind != kindDeployment {
			continue
		}
		deployment := &appsv1.Deployment{}
		err := input.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: one.name}, deployment)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading Deployment %s: %w", one.name, err)
		}
		found = append(found, workloadOf(kindDeployment, one.name, &deployment.Spec.Template.Spec))
		if problem := rolloutProblem(deployment, input.Since, input.Now); problem != "" {
			rollouts = append(rollouts, problem)
		}
	}
	return new(versionsFinding(compareImages(wanted, found), rollouts, input.Cluster.Shoot.Spec.Kubernetes.Version)), nil
}

const (
	kindDeployment = "Deployment"
	kindDaemonSet  = "DaemonSet"
)

// wantedWorkloads returns what the primary would deploy, by its own functions.
func wantedWorkloads(
	ctx context.Context, driver Driver, images images.Vector, input observer.Input[*extensionsv1alpha1.ControlPlane],
) ([]workload, error) {
	shoot, err := newShoot(ctx, input.Reader, input.Object, input.Cluster)
	if err != nil {
		return nil, err
	}
	if _, err := readReferenced(ctx, input.Reader, shoot, driver.References(shoot)); err != nil {
		return nil, err
	}
	plan, err := driver.Plan(shoot)
	if err != nil {
		return nil, fmt.Errorf("planning the control plane: %w", err)
	}
	return newRenderer(plan, images, shoot.Cluster.Shoot.Spec.Kubernetes).workloads()
}

// workloads returns the Deployments in the seed and the DaemonSets in the shoot.
func (r *renderer) workloads() ([]workload, error) {
	var workloads []workload
	for _, c := range r.components {
		deployment := workload{kind: kindDeployment, name: c.Name}
		for _, container := range c.Containers {
			image, err := r.shoot.Image(container.Image)
			if err != nil {
				return nil, fmt.Errorf("looking up the image of container %q of %q: %w", container.Name, c.Name, err)
			}
			deployment.images = append(deployment.images, containerImage{container.Name, image})
		}
		workloads = append(workloads, deployment)
	}
	objects, err := r.shootObjects()
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if set, ok := object.(*appsv1.DaemonSet); ok {
			workloads = append(workloads, workloadOf(kindDaemonSet, set.Name, &set.Spec.Template.Spec))
		}
	}
	return workloads, nil
}

func workloadOf(kind, name string, pod *corev1.PodSpec) workload {
	found := workload{kind: kind, name: name}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		found.images = append(found.images, containerImage{container.Name, container.Image})
	}
	return found
}

// daemonSetsIn returns the DaemonSets among manifests.
func daemonSetsIn(manifests []*unstructured.Unstructured) ([]workload, error) {
	var found []workload
	for _, manifest := range manifests {
		if manifest.GroupVersionKind() != appsv1.SchemeGroupVersion.WithKind(kindDaemonSet) {
			continue
		}
		set := &appsv1.DaemonSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(manifest.Object, set); err != nil {
			return nil, fmt.Errorf("reading the manifest of DaemonSet %s: %w", manifest.GetName(), err)
		}
		found = append(found, workloadOf(kindDaemonSet, set.Name, &set.Spec.Template.Spec))
	}
	return found, nil
}

// compareImages returns how workloads differ from the wanted ones. Containers and workloads that are not wanted may belong to others.
func compareImages(wanted, found []workload) []string {
	var differences []string
	for _, one := range wanted {
		index := slices.IndexFunc(found, func(f workload) bool { return f.kind == one.kind && f.name == one.name })
		if index < 0 {
			differences = append(differences, fmt.Sprintf("%s %s does not exist", one.kind, one.name))
			continue
		}
		for _, want := range one.images {
			switch has := found[index].image(want.container); has {
			case want.image:
			case "":
				differences = append(differences, fmt.Sprintf("%s %s has no container %s, and should have it with image %s", one.kind, one.name, want.container, want.image))
			default:
				differences = append(differences, fmt.Sprintf("container %s of %s %s has image %s, not %s", want.container, one.kind, one.name, has, want.image))
			}
		}
	}
	return differences
}

// rolloutProblem says that a Deployment is not rolled out for longer than it may take, or "". since is the time of the primary's last success.
func rolloutProblem(deployment *appsv1.Deployment, since, now time.Time) string {
	replicas := int32(1)
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	status := deployment.Status
	isObserved := status.ObservedGeneration >= deployment.Generation
	if isObserved && status.UpdatedReplicas >= replicas && status.Replicas <= status.UpdatedReplicas {
		return ""
	}
	started := since
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.LastUpdateTime.After(started) {
			started = condition.LastUpdateTime.Time
		}
	}
	if now.Sub(started) < rolloutGrace {
		return ""
	}
	if !isObserved {
		return fmt.Sprintf("generation %d of Deployment %s has not been observed, but %d: the seed's kube-controller-manager does that",
			deployment.Generation, deployment.Name, status.ObservedGeneration)
	}
	return fmt.Sprintf("of %d replicas of Deployment %s %d are updated, and %d run in all: its pods give the reason",
		replicas, deployment.Name, status.UpdatedReplicas, status.Replicas)
}

// versionsFinding combines differences and rollouts.
func versionsFinding(differences, rollouts []string, kubernetesVersion string) observer.Finding {
	if len(differences) == 0 && len(rollouts) == 0 {
		return observer.Finding{Healthy: true, Message: fmt.Sprintf(
			"All components have the images for Kubernetes %s that this version of the controller deploys, and are rolled out.", kubernetesVersion)}
	}
	var sentences []string
	if len(differences) > 0 {
		sentences = append(sentences, strings.Join(differences, "; ")+": the next reconciliation of the shoot deploys what is wanted")
	}
	return observer.Finding{Message: strings.Join(append(sentences, rollouts...), "; ")}
}
