// Package inspect reads what the extension objects of one shoot in a seed say, and prints it: last operations, errors, requests that nobody serves,
// conditions, problems of ManagedResources and machines, and the tree of cloud resources.
//
// Read collects a Report, which is plain data. Text, JSON and SVG are pure functions of it. The package only gets and lists objects, never Secrets. It knows
// Gardener's API and neither contracts nor clouds: a Cloud for each type of Infrastructure reads what that type has recorded of its resources.
package inspect
