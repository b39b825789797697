package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const (
	// createLimit bounds a creation, changeLimit a reconciliation, and rollLimit one that replaces machines or API servers.
	createLimit, changeLimit, rollLimit = 20 * time.Minute, 10 * time.Minute, 20 * time.Minute
	// nodesLimit bounds how long Nodes take after gardenlet's end.
	nodesLimit = 3 * time.Minute
)

func stepsOfMachines() []Step {
	return []Step{
		{
			Name: "create", Sentence: "a user creates a Shoot with one pool of one machine", limit: createLimit, expected: lostLeases(),
			do: func(ctx context.Context, r *run) error {
				if err := r.createShoot(ctx, r.newShoot(r.main)); err != nil {
					return err
				}
				if err := r.awaitSettled(ctx, r.main); err != nil {
					return err
				}
				return r.awaitNodes(ctx, 1)
			},
		},
		{
			Name: "load-balancer", Sentence: "a Service of type LoadBalancer gets its Octavia load balancer", limit: changeLimit,
			do: createLoadBalancer,
		},
		{
			Name: "scale-out", Sentence: "the pool grows from one machine to three", limit: changeLimit,
			do: func(ctx context.Context, r *run) error { return r.scale(ctx, 3, 3) },
		},
		{
			Name: "scale-in", Sentence: "the pool shrinks from three machines to one", limit: changeLimit,
			do: func(ctx context.Context, r *run) error { return r.scale(ctx, 1, 1) },
		},
		{
			Name: "pool-add", Sentence: "a second pool is added", limit: changeLimit,
			do: func(ctx context.Context, r *run) error {
				return r.changeAndAwait(ctx, 2, func(shoot *gardencorev1beta1.Shoot) {
					shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, r.newPool("w2", 1, 1))
				})
			},
		},
		{
			Name: "pool-roll", Sentence: "the second pool gets a newer image, which replaces its machine", limit: rollLimit, do: rollPool,
		},
		{
			Name: "pool-remove", Sentence: "the second pool is removed", limit: changeLimit,
			do: func(ctx context.Context, r *run) error {
				return r.changeAndAwait(ctx, 1, func(shoot *gardencorev1beta1.Shoot) {
					shoot.Spec.Provider.Workers = slices.DeleteFunc(shoot.Spec.Provider.Workers, isPool("w2"))
				})
			},
		},
	}
}

func isPool(name string) func(gardencorev1beta1.Worker) bool {
	return func(w gardencorev1beta1.Worker) bool { return w.Name == name }
}

// changeAndAwait changes the main Shoot and waits until gardenlet has finished, and the Shoot has so many Nodes.
func (r *run) changeAndAwait(ctx context.Context, nodes int, change func(*gardencorev1beta1.Shoot)) error {
	if err := r.change(ctx, r.main, change); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	return r.awaitNodes(ctx, nodes)
}

// scale changes the size of the first pool.
func (r *run) scale(ctx context.Context, minimum, maximum int32) error {
	return r.changeAndAwait(ctx, int(minimum), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.Workers[0].Minimum, shoot.Spec.Provider.Workers[0].Maximum = minimum, maximum
	})
}

// awaitNodes waits until the main Shoot has so many machines and Nodes, all of them ready.
func (r *run) awaitNodes(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, nodesLimit)
	defer cancel()
	return r.await(ctx, fmt.Sprintf("%d Nodes", want), func(ctx context.Context) (string, error) {
		machines := 0
		for _, s := range r.seeds {
			list := &machinev1alpha1.MachineList{}
			if err := s.client.List(ctx, list, client.InNamespace(r.main.technicalID())); err != nil {
				return "", err
			}
			machines += len(list.Items)
		}
		found, err := r.listNodes(ctx, r.main)
		if err != nil {
			return "", err
		}
		ready := 0
		for _, node := range found {
			if slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				ready++
			}
		}
		text := fmt.Sprintf("%d machines, %d Nodes, %d of them ready", machines, len(found), ready)
		if machines != want || len(found) != want || ready != want {
			return text, errors.New(text)
		}
		return text, nil
	})
}

// createLoadBalancer creates a Service and waits for its address, which the cloud must know.
func createLoadBalancer(ctx context.Context, r *run) error {
	shoot, err := r.shootClient(r.main)
	if err != nil {
		return err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	if err := shoot.Create(ctx, service); err != nil {
		return fmt.Errorf("creating a Service: %w", err)
	}
	if err := r.await(ctx, "the load balancer's address", func(ctx context.Context) (string, error) {
		if err := shoot.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 {
			return "the Service has no address yet", errors.New("the Service has no address")
		}
		return "", nil
	}); err != nil {
		return err
	}
	kinds, err := r.main.account.CountByKind(ctx)
	if err != nil {
		return err
	}
	if kinds["load balancer"] != 1 {
		return fmt.Errorf("the Service has the address %s, but the account has %d load balancers: %v",
			service.Status.LoadBalancer.Ingress[0].IP, kinds["load balancer"], kinds)
	}
	return nil
}

// rollPool changes the image of the second pool. No machine of before must remain.
func rollPool(ctx context.Context, r *run) error {
	machinesOf := func() (map[string]bool, error) {
		names := map[string]bool{}
		for _, s := range r.seeds {
			list := &machinev1alpha1.MachineList{}
			if err := s.client.List(ctx, list, client.InNamespace(r.main.technicalID())); err != nil {
				return nil, err
			}
			for _, machine := range list.Items {
				names[machine.Name] = true
			}
		}
		return names, nil
	}
	before, err := machinesOf()
	if err != nil {
		return err
	}
	if err := r.changeAndAwait(ctx, len(before), func(shoot *gardencorev1beta1.Shoot) {
		for i := range shoot.Spec.Provider.Workers {
			if isPool("w2")(shoot.Spec.Provider.Workers[i]) {
				shoot.Spec.Provider.Workers[i].Machine.Image.Version = new(openstack.LatestImage)
			}
		}
	}); err != nil {
		return err
	}
	after, err := machinesOf()
	if err != nil {
		return err
	}
	replaced := 0
	for name := range before {
		if !after[name] {
			replaced++
		}
	}
	if replaced != 1 {
		return fmt.Errorf("%d machines were replaced instead of the one of the second pool", replaced)
	}
	return nil
}
