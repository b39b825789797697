package kindseed

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/component/kubernetes/apiserverexposure"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// hosted lists the shoots whose clusters run.
func (env *Env) hosted() []*Shoot {
	env.lock.Lock()
	defer env.lock.Unlock()
	return slices.Clone(env.shoots)
}

// Host starts the shoot's cluster, and prepares the seed for it as gardenlet does before it creates the ControlPlane: the shoot's API server is
// reachable in the seed, a gardener-resource-manager runs for it, and kubeconfigs exist. The Account's servers become its nodes.
func (s *Shoot) Host(ctx context.Context) error {
	etcd, err := s.env.sharedEtcd()
	if err != nil {
		return err
	}
	name := s.Namespace() + fmt.Sprintf("-%d", s.env.nextNumber())
	dir, err := s.env.folder(filepath.Join("shoots", name))
	if err != nil {
		return err
	}
	s.env.add(s)
	dns := s.apiServerName()
	listening := shoot.WithAddress(s.env.Gateway, dns, dns+".cluster.local")
	if s.Cluster, err = shoot.Start(ctx, s.env.Programs, dir, etcd, listening); err != nil {
		return fmt.Errorf("starting the cluster of shoot %s: %w", s.Name, err)
	}
	if err := s.env.Gardenlet.Prepare(ctx, s.Shoot); err != nil {
		return err
	}
	if err := s.expose(ctx); err != nil {
		return err
	}
	manager := filepath.Join(dir, grm.Name)
	if s.manager, err = grm.ForShoot(ctx, s.env.Programs, manager, s.env.Kubeconfig, s.Namespace(), s.Cluster.Kubeconfig); err != nil {
		return err
	}
	if err := s.env.Gardenlet.PrepareControlPlane(ctx, s.Shoot, s.apiServer()); err != nil {
		return err
	}
	return s.env.awaitDeployment(ctx, s.Namespace(), v1beta1constants.DeploymentNameKubeAPIServer)
}

// apiServerName is the name of the shoot's API server in the seed, apiServer its host name for pods.
func (s *Shoot) apiServerName() string {
	return v1beta1constants.DeploymentNameKubeAPIServer + "." + s.Namespace() + ".svc"
}

func (s *Shoot) apiServer() gardenlet.APIServer {
	return gardenlet.APIServer{URL: "https://" + s.apiServerName(), CA: s.Cluster.CA}
}

// expose creates the Service of the shoot's API server by Gardener's component.
func (s *Shoot) expose(ctx context.Context) error {
	noIstio := func() []string { return nil }
	component := apiserverexposure.NewService(
		logr.Discard(), s.env.Client, s.Namespace(), &apiserverexposure.ServiceValues{}, func() client.ObjectKey { return client.ObjectKey{} },
		nil, nil, nil, noIstio,
	)
	if err := component.Deploy(ctx); err != nil {
		return fmt.Errorf("exposing the API server of shoot %s: %w", s.Name, err)
	}
	return nil
}

// forwardAPIServer makes the pods of a shoot's API server forward connections to the process on this machine.
func (env *Env) forwardAPIServer(of *gardenlet.Shoot, pod *corev1.PodTemplateSpec) {
	pod.Labels[v1beta1constants.LabelNetworkPolicyToPrivateNetworks] = v1beta1constants.LabelNetworkPolicyAllowed
	container := &pod.Spec.Containers[0]
	container.Image, container.Command = standInImage, nil
	for _, s := range env.hosted() {
		if s.Shoot == of {
			container.Env = append(container.Env, corev1.EnvVar{Name: "STANDIN_FORWARD", Value: ":443=" + s.Cluster.Address()})
		}
	}
}

// sharedEtcd starts an etcd for the clusters of all shoots, unless there is one.
func (env *Env) sharedEtcd() (string, error) {
	env.lock.Lock()
	defer env.lock.Unlock()
	if env.etcd != nil {
		return env.etcd.URL.String(), nil
	}
	dir, err := env.folder("etcd")
	if err != nil {
		return "", err
	}
	if env.etcd, err = apiserver.StartEtcd(env.Programs, dir); err != nil {
		return "", err
	}
	return env.etcd.URL.String(), nil
}

func (env *Env) add(s *Shoot) {
	env.lock.Lock()
	defer env.lock.Unlock()
	env.shoots = append(env.shoots, s)
}

func (env *Env) remove(s *Shoot) {
	env.lock.Lock()
	defer env.lock.Unlock()
	env.shoots = slices.DeleteFunc(env.shoots, func(other *Shoot) bool { return other == s })
}

// nextNumber numbers folders.
func (env *Env) nextNumber() int {
	env.lock.Lock()
	defer env.lock.Unlock()
	env.started++
	return env.started
}
