package kindseed

import (
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/e2e/internal/example"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const (
	cloudNamespace = "openstack"
	cloudPort      = 5000
	examplePort    = 5001
)

// startCloud runs the fake OpenStack in a pod in the network of the control plane's node.
func (env *Env) startCloud(ctx context.Context) error {
	for _, create := range []func() error{
		func() error {
			return env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cloudNamespace}})
		},
		func() error { return env.Client.Create(ctx, cloudPod()) },
	} {
		if err := create(); err != nil {
			return fmt.Errorf("creating the cloud's pod: %w", err)
		}
	}
	node, err := env.NodeAddress()
	if err != nil {
		return err
	}
	env.Example = example.Attach("http://" + net.JoinHostPort(node, strconv.Itoa(examplePort)))
	env.Cloud, env.Remote, err = openstack.Attach(ctx, "http://"+net.JoinHostPort(node, strconv.Itoa(cloudPort)))
	return err
}

func cloudPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: cloudName, Namespace: cloudNamespace, Labels: map[string]string{"app": cloudName}},
		Spec: corev1.PodSpec{
			HostNetwork:                  true,
			NodeSelector:                 map[string]string{"node-role.kubernetes.io/control-plane": ""},
			Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false),
			Containers: []corev1.Container{{
				Name: cloudName, Image: cloudImage, ImagePullPolicy: corev1.PullNever,
				Args: []string{
					fmt.Sprintf("--listen=:%d", cloudPort), fmt.Sprintf("--example-listen=:%d", examplePort), "--server-build=500ms", "--server-delete=500ms",
					"--images=" + openstack.GlanceImage(openstack.LatestImage),
				},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/-/healthz", Port: intstr.FromInt32(cloudPort)}},
				},
			}},
		},
	}
}

// NewAccount creates an account in the cloud.
func (env *Env) NewAccount(ctx context.Context, name string) (*openstack.Account, error) {
	return env.Cloud.NewAccount(ctx, name)
}
