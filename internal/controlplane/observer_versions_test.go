package controlplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestVersionsFinding(t *testing.T) {
	one := func(kind, name string, images ...containerImage) workload {
		return workload{kind: kind, name: name, images: images}
	}
	wanted := []workload{
		one(kindDeployment, "cloud-controller-manager", containerImage{"ccm", "registry/ccm:v2"}),
		one(kindDaemonSet, "csi-driver-node", containerImage{"driver", "registry/csi:v1"}, containerImage{"probe", "registry/probe:v1"}),
	}
	for sentence, test := range map[string]struct {
		found    []workload
		rollouts []string
		healthy  bool
		want     string
	}{
		"all images are those that are wanted": {
			found: wanted, healthy: true, want: "All components have the images for Kubernetes 1.36.3 that this version of the controller deploys, and are rolled out.",
		},
		"a container that somebody has injected": {
			found: []workload{
				one(kindDeployment, "cloud-controller-manager", containerImage{"ccm", "registry/ccm:v2"}, containerImage{"sidecar", "other"}), wanted[1],
			},
			healthy: true, want: "All components have the images",
		},
		"a Deployment with another image": {
			found: []workload{one(kindDeployment, "cloud-controller-manager", containerImage{"ccm", "registry/ccm:v1"}), wanted[1]},
			want:  "container ccm of Deployment cloud-controller-manager has image registry/ccm:v1, not registry/ccm:v2: the next reconciliation of the shoot deploys what is wanted",
		},
		"a DaemonSet with another image and without a container": {
			found: []workload{wanted[0], one(kindDaemonSet, "csi-driver-node", containerImage{"driver", "registry/csi:v0"})},
			want: "container driver of DaemonSet csi-driver-node has image registry/csi:v0, not registry/csi:v1; " +
				"DaemonSet csi-driver-node has no container probe, and should have it with image registry/probe:v1: the next reconciliation of the shoot deploys what is wanted",
		},
		"a component that is not there": {
			found: []workload{wanted[1], one(kindDaemonSet, "cloud-controller-manager")},
			want:  "Deployment cloud-controller-manager does not exist: the next reconciliation",
		},
		"a rollout that does not end": {
			found: wanted, rollouts: []string{"of 2 replicas of Deployment a 1 are updated"}, want: "of 2 replicas of Deployment a 1 are updated",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			finding := versionsFinding(compareImages(wanted, test.found), test.rollouts, "1.36.3")
			assert.Equal(t, test.healthy, finding.Healthy)
			assert.Contains(t, finding.Message, test.want)
		})
	}
}

func TestRolloutProblem(t *testing.T) {
	now := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	for sentence, test := range map[string]struct {
		status appsv1.DeploymentStatus
		since  time.Time
		want   string
	}{
		"all replicas are updated": {status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2}},
		"replicas are updated since the last reconciliation": {
			status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 1}, since: now.Add(-time.Minute),
		},
		"replicas are updated, and progress is recent": {
			status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, LastUpdateTime: metav1.NewTime(now.Add(-time.Minute))},
			}},
		},
		"an update makes no progress": {
			status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, LastUpdateTime: metav1.NewTime(now.Add(-time.Hour))},
			}},
			want: "of 2 replicas of Deployment ccm 1 are updated, and 3 run in all: its pods give the reason",
		},
		"old pods stay": {
			status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 2},
			want:   "of 2 replicas of Deployment ccm 2 are updated, and 3 run in all",
		},
		"a version that nobody has seen": {
			status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2},
			want:   "generation 3 of Deployment ccm has not been observed, but 2: the seed's kube-controller-manager does that",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: "ccm", Generation: 3}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}, Status: test.status,
			}
			since := test.since
			if since.IsZero() {
				since = now.Add(-24 * time.Hour)
			}
			problem := rolloutProblem(deployment, since, now)
			if test.want == "" {
				assert.Empty(t, problem)
			} else {
				assert.Contains(t, problem, test.want)
			}
		})
	}
}
