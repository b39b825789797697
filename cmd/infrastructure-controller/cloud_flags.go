package main

import (
	"errors"
	"net/url"
	"time"

	"github.com/trellis-garden/trellis/internal/manager"
)

// defaultFullCheckInterval is longer than gardenlet's pauses between the attempts of a flow, and shorter than the time between two maintenances.
const defaultFullCheckInterval = 10 * time.Minute

// cloudFlags are the flags for the use of clouds.
type cloudFlags struct {
	fullCheckInterval time.Duration
	awsEndpointURL    string
}

func newCloudFlags() *cloudFlags { return &cloudFlags{fullCheckInterval: defaultFullCheckInterval} }

func (f *cloudFlags) flags() manager.FlagSection {
	return manager.FlagSection{Title: "Clouds", Flags: []manager.Flag{
		{
			Name: "full-check-interval", Value: "DURATION", Defaults: "10m",
			Usage: "For type openstack: how long after a check of all resources of a shoot gardenlet's repetitions of the reconciliation check only " +
				"its router. What a user or an operator requests is always a check of all resources.",
			Allowed: "a duration such as 10m, 0 for a check of all resources in each reconciliation",
			Set:     f.setFullCheckInterval,
		},
		{
			Name: "aws-endpoint-url", Value: "URL", Defaults: "AWS' own addresses, by region",
			Usage: "For type aws: the address of all services of AWS, of a program that answers in their place.",
			Set:   f.setAWSEndpointURL,
		},
	}}
}

func (f *cloudFlags) setFullCheckInterval(text string) error {
	interval, err := time.ParseDuration(text)
	if err != nil || interval < 0 {
		return errors.New("must be a duration, not negative")
	}
	f.fullCheckInterval = interval
	return nil
}

func (f *cloudFlags) setAWSEndpointURL(text string) error {
	endpoint, err := url.Parse(text)
	if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" {
		return errors.New("must be a URL such as https://aws.example.org")
	}
	f.awsEndpointURL = text
	return nil
}
