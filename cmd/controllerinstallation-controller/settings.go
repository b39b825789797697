package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/trellis-garden/trellis/internal/controllerinstallation"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
	"github.com/trellis-garden/trellis/internal/manager"
)

// settings are what the command line says about installations.
type settings struct {
	controllerinstallation.Options
	gardenAddress string
}

const (
	minSyncPeriod     = time.Second
	defaultSyncPeriod = 30 * time.Second
	defaultConcurrent = 20
)

// newSettings are the defaults. gardenlet tells an extension in a seed the seed's name.
func newSettings(environment func(string) string) *settings {
	s := &settings{}
	s.SeedName = environment(v1beta1constants.EnvSeedName)
	s.SeedSelector = labels.Everything()
	s.SyncPeriod, s.MaxConcurrentReconciles = defaultSyncPeriod, defaultConcurrent
	return s
}

func (s *settings) flags() manager.FlagSection {
	return manager.FlagSection{Title: "Installations", Flags: []manager.Flag{
		{
			Name: "seed-name", Value: "NAME", Defaults: "$" + v1beta1constants.EnvSeedName,
			Usage: "Seed that the process runs in: serve that one, with what its ControllerDeployments say now. Without a name serve many seeds, " +
				"and roll changes out in waves.",
			Allowed: "the name of a Seed, or nothing",
			Set:     s.setSeedName,
		},
		{
			Name: "seed-selector", Value: "SELECTOR", Defaults: "all",
			Usage:   "Seeds to serve, by their labels. A seed must not be served by two operators.",
			Allowed: "a label selector, and none with a seed's name",
			Set:     s.setSeedSelector,
		},
		{
			Name: "garden-address", Value: "URL", Defaults: "that of the garden's kubeconfig",
			Usage:   "API server of the garden as seeds see it, for controllers that ask for a kubeconfig of the garden.",
			Allowed: "https://host[:port]",
			Set:     s.setGardenAddress,
		},
		{
			Name: "sync-period", Value: "DURATION", Defaults: defaultSyncPeriod.String(),
			Usage:   "How often each installation is looked at, and what drifted is put right.",
			Allowed: minSyncPeriod.String() + " and more",
			Set:     s.setSyncPeriod,
		},
		{
			Name: "max-concurrent-reconciles", Value: "N", Defaults: fmt.Sprint(defaultConcurrent),
			Usage:   "How many installations are worked on at the same time.",
			Allowed: "1 and more",
			Set:     s.setConcurrent,
		},
	}}
}

func (s *settings) setSeedName(text string) error {
	if text != "" && len(validation.IsDNS1123Subdomain(text)) > 0 {
		return errors.New("must be the name of a Seed")
	}
	s.SeedName = text
	return nil
}

func (s *settings) setSeedSelector(text string) error {
	selector, err := labels.Parse(text)
	if err != nil {
		return errors.New("must be a label selector")
	}
	s.SeedSelector = selector
	return nil
}

func (s *settings) setGardenAddress(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || address.Host == "" {
		return errors.New("must be a URL with https")
	}
	s.gardenAddress = text
	return nil
}

func (s *settings) setSyncPeriod(text string) error {
	period, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration")
	}
	if period < minSyncPeriod {
		return errors.New("is too short")
	}
	s.SyncPeriod = period
	return nil
}

func (s *settings) setConcurrent(text string) error {
	concurrent, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("must be a number")
	}
	if concurrent < 1 {
		return errors.New("is too small")
	}
	s.MaxConcurrentReconciles = concurrent
	return nil
}

func setup(p *manager.Process, s *settings) error {
	if s.SeedName != "" && !s.SeedSelector.Empty() {
		return errors.New("--seed-selector: of no use with the name of a seed (--seed-name or $" + v1beta1constants.EnvSeedName + "); leave one out")
	}
	options := s.Options
	options.Registerer = p.Registerer
	var err error
	if options.Garden, err = gardenForSeeds(p.GardenConfig, s.gardenAddress); err != nil {
		return err
	}
	access, err := s.access(p)
	if err != nil {
		return err
	}
	return controllerinstallation.Add(p.Manager, controllerinstallation.Garden{Config: p.GardenConfig, Client: p.Garden}, access, options)
}

// gardenForSeeds is how controllers in seeds reach the garden: as the operator does, unless an address is given.
func gardenForSeeds(config *rest.Config, address string) (workload.Garden, error) {
	loaded := rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(loaded); err != nil {
		return workload.Garden{}, fmt.Errorf("reading the garden's certificate authority: %w", err)
	}
	garden := workload.Garden{Address: loaded.Host, CABundle: loaded.CAData}
	if address != "" {
		garden.Address = address
	}
	return garden, nil
}

// access leads into the process's own cluster, or into all seeds through the garden.
func (s *settings) access(p *manager.Process) (seeds.Access, error) {
	options := seeds.Options{Scheme: p.Manager.GetScheme(), UserAgent: p.Manager.GetConfig().UserAgent, Registerer: p.Registerer}
	if s.SeedName != "" {
		return seeds.InCluster(s.SeedName, p.Manager.GetConfig(), options)
	}
	return seeds.FromGarden(p.Garden, options)
}
