package controlplane

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/truncate"
)

func deploymentIn(conditions ...appsv1.DeploymentCondition) *appsv1.Deployment {
	return &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: conditions}}
}

func availableCondition(status corev1.ConditionStatus) appsv1.DeploymentCondition {
	return appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: status, Reason: "MinimumReplicas", Message: "m"}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func ended(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func podOf(containers ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: containers}}
}

func TestDiagnosis(t *testing.T) {
	crashing := corev1.ContainerStatus{
		Name: "ccm", State: waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container"), LastTerminationState: ended(1, "Error"),
	}
	fine := corev1.ContainerStatus{Name: "driver", Ready: true, State: running(), LastTerminationState: ended(255, "Error")}
	starting := corev1.ContainerStatus{Name: "ccm", State: waiting("ContainerCreating", "")}
	unready := corev1.ContainerStatus{Name: "ccm", State: running()}
	initialized := podOf(crashing)
	initialized.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "first", Ready: true, State: ended(0, "Completed"), LastTerminationState: ended(2, "Error")},
	}
	initializing := podOf(corev1.ContainerStatus{Name: "ccm", State: waiting("PodInitializing", "")})
	initializing.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "first", State: ended(3, "")}}
	homeless := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available"},
	}}}
	leaving, evicted := podOf(crashing), podOf(crashing)
	leaving.DeletionTimestamp = new(metav1.Now())
	evicted.Status.Phase = corev1.PodFailed

	for sentence, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"a crash loop, without its count-down": {
			pods: []corev1.Pod{podOf(fine, crashing)},
			want: `container "ccm" waits (CrashLoopBackOff), it last ended with exit code 1 (Error)`,
		},
		"a process that has just died": {
			pods: []corev1.Pod{podOf(corev1.ContainerStatus{Name: "ccm", State: ended(137, "OOMKilled"), LastTerminationState: ended(1, "Error")})},
			want: `container "ccm" ended with exit code 137 (OOMKilled)`,
		},
		"a process between two crashes": {
			pods: []corev1.Pod{podOf(corev1.ContainerStatus{Name: "ccm", State: running(), LastTerminationState: ended(1, "Error")})},
			want: `container "ccm" runs but is not ready, it last ended with exit code 1 (Error)`,
		},
		"an image that is not there": {
			pods: []corev1.Pod{podOf(corev1.ContainerStatus{Name: "ccm", State: waiting("ImagePullBackOff", `Back-off pulling image "x"`)})},
			want: `container "ccm" waits (ImagePullBackOff: Back-off pulling image "x")`,
		},
		"an init container that is done is no trouble":         {pods: []corev1.Pod{initialized}, want: `container "ccm" waits (CrashLoopBackOff), it last ended with exit code 1 (Error)`},
		"an init container that fails is":                      {pods: []corev1.Pod{initializing}, want: `container "first" ended with exit code 3`},
		"no node takes the pod":                                {pods: []corev1.Pod{homeless}, want: `no node takes its pod: 0/3 nodes are available`},
		"a definite complaint goes before one that may pass":   {pods: []corev1.Pod{podOf(starting), podOf(unready), podOf(fine, crashing)}, want: `container "ccm" waits (CrashLoopBackOff), it last ended with exit code 1 (Error)`},
		"the first of complaints that may pass":                {pods: []corev1.Pod{podOf(fine), podOf(starting), podOf(unready)}, want: `container "ccm" waits (ContainerCreating)`},
		"readiness that does not come":                         {pods: []corev1.Pod{podOf(unready)}, want: `container "ccm" runs but is not ready`},
		"pods that are gone complain no more":                  {pods: []corev1.Pod{leaving, evicted}, want: `condition "Available" has invalid status False (expected True) due to MinimumReplicas: m`},
		"without pods the Deployment speaks for itself":        {want: `condition "Available" has invalid status False (expected True) due to MinimumReplicas: m`},
		"with pods that have no complaint the Deployment does": {pods: []corev1.Pod{podOf(fine)}, want: `condition "Available" has invalid status False (expected True) due to MinimumReplicas: m`},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, diagnosis(deploymentIn(availableCondition(corev1.ConditionFalse)), test.pods))
		})
	}
	assert.Equal(t, `condition "Progressing" is missing`, diagnosis(deploymentIn(availableCondition(corev1.ConditionTrue)), nil), "a rollout that does not end")
}

func TestUnhealthyDeployments(t *testing.T) {
	rolledOut := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}
	healthy := deploymentIn(availableCondition(corev1.ConditionTrue), rolledOut)
	progressing := deploymentIn(availableCondition(corev1.ConditionTrue))
	unhealthy := deploymentIn(availableCondition(corev1.ConditionFalse), rolledOut)
	assert.Empty(t, unhealthyDeployments([]*appsv1.Deployment{healthy}))
	assert.Equal(t, []*appsv1.Deployment{progressing}, unhealthyDeployments([]*appsv1.Deployment{healthy, progressing}))
	assert.Equal(t, []*appsv1.Deployment{unhealthy}, unhealthyDeployments([]*appsv1.Deployment{healthy, progressing, unhealthy}), "who is sick goes before who is changing")
}

func TestDiagnosis_LongMessages(t *testing.T) {
	long := "\x1b[31m" + strings.Repeat("no room ", 600_000)
	unschedulable := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: long},
	}}}
	unavailable := availableCondition(corev1.ConditionFalse)
	unavailable.Message = long
	for sentence, tt := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"the scheduler's":  {pods: []corev1.Pod{unschedulable}, want: "no node takes its pod:  [31mno room"},
		"a container's":    {pods: []corev1.Pod{podOf(corev1.ContainerStatus{State: waiting("ErrImagePull", long)})}, want: `container "" waits (ErrImagePull:  [31mno room`},
		"the Deployment's": {want: `condition "Available" has invalid status False (expected True) due to MinimumReplicas:  [31mno room`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := diagnosis(deploymentIn(unavailable), tt.pods)
			assert.Less(t, len(got), truncate.MaxExternal+100)
			assert.True(t, strings.HasPrefix(got, tt.want), "%.100q", got)
		})
	}
}
