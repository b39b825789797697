package main

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/manager"
)

// etcdFlags say on what seeds of our types keep the etcds of their shoots.
type etcdFlags struct{ storage tuning.EtcdStorage }

// newEtcdFlags names the class of etcd-main in any case, as upstream's extension does: an Etcd that was made without one could
// never take one again, and its shoot not go back.
func newEtcdFlags() *etcdFlags {
	return &etcdFlags{storage: tuning.EtcdStorage{Main: tuning.EtcdVolume{ClassName: new("")}}}
}

func (e *etcdFlags) flags() manager.FlagSection {
	section := manager.FlagSection{Title: "Etcds of the shoots on this seed"}
	for _, etcd := range []struct {
		name, class string
		volume      *tuning.EtcdVolume
	}{{"main", "the seed's default class", &e.storage.Main}, {"events", "what Gardener chooses", &e.storage.Events}} {
		section.Flags = append(section.Flags,
			manager.Flag{
				Name: "etcd-" + etcd.name + "-storage-class", Value: "NAME", Defaults: etcd.class,
				Usage:   fmt.Sprintf("StorageClass of the volumes of new etcd-%s; empty is the seed's default class.", etcd.name),
				Allowed: "the name of a StorageClass of the seed",
				Set: func(text string) error {
					etcd.volume.ClassName = &text
					return nil
				},
			},
			manager.Flag{
				Name: "etcd-" + etcd.name + "-storage-capacity", Value: "SIZE", Defaults: "what Gardener chooses",
				Usage:   fmt.Sprintf("Size of the volumes of new etcd-%s.", etcd.name),
				Allowed: "a quantity such as 25Gi",
				Set: func(text string) error {
					capacity, err := resource.ParseQuantity(text)
					if err != nil || capacity.Sign() <= 0 {
						return errors.New("is no size")
					}
					etcd.volume.Capacity = &capacity
					return nil
				},
			},
		)
	}
	return section
}
