// Package conformance lists the behaviours of EC2, IAM and Elastic Load Balancing that Trellis relies on. Each is named by a sentence, says from where it is known, and
// is checked by our own client over HTTP. The same checks run against the fake and, if the environment names one, against a real account, in which they clean
// up what they make. docs/reference/aws-behaviour.md is the list with its sources.
//
// A source is a page of AWS' documentation, another project that is tested against AWS, or Judgement where we have found neither: those are the first to be
// tried on a real account.
//
// The package knows neither Kubernetes nor the fake.
package conformance
