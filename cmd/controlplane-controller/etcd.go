package main

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/manager"
)

// defaultEtcdCapacity is upstream's. Who changes it there, changes it here.
const defaultEtcdCapacity = "10Gi"

// etcdFlags say on what seeds of our types keep the etcds of their shoots.
type etcdFlags struct{ storage tuning.EtcdStorage }

// newEtcdFlags has upstream's defaults. A shoot could not go back otherwise: an Etcd that was made without a class can never
// take one, and one of another size could never change it.
func newEtcdFlags() *etcdFlags {
	volume := func() tuning.EtcdVolume {
		return tuning.EtcdVolume{ClassName: new(""), Capacity: new(resource.MustParse(defaultEtcdCapacity))}
	}
	return &etcdFlags{storage: tuning.EtcdStorage{Main: volume(), Events: volume()}}
}

func (e *etcdFlags) flags() manager.FlagSection {
	section := manager.FlagSection{Title: "Etcds of the shoots on this seed"}
	for _, etcd := range []struct {
		name   string
		volume *tuning.EtcdVolume
	}{{"main", &e.storage.Main}, {"events", &e.storage.Events}} {
		section.Flags = append(section.Flags,
			manager.Flag{
				Name: "etcd-" + etcd.name + "-storage-class", Value: "NAME", Defaults: "the seed's default class",
				Usage:   fmt.Sprintf("StorageClass of the volumes of new etcd-%s; empty is the seed's default class.", etcd.name),
				Allowed: "the name of a StorageClass of the seed",
				Set: func(text string) error {
					etcd.volume.ClassName = &text
					return nil
				},
			},
			manager.Flag{
				Name: "etcd-" + etcd.name + "-storage-capacity", Value: "SIZE", Defaults: defaultEtcdCapacity,
				Usage:   fmt.Sprintf("Size of the volumes of new etcd-%s.", etcd.name),
				Allowed: "a quantity such as 25Gi",
				Set: func(text string) error {
					capacity, err := resource.ParseQuantity(text)
					if err != nil || capacity.Sign() <= 0 {
						return errors.New("must be a size")
					}
					etcd.volume.Capacity = &capacity
					return nil
				},
			},
		)
	}
	return section
}
