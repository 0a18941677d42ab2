// Package tests checks what stands in deploy: that every overlay builds, that
// its objects decode strictly and meet the API's schema (and Argo's), that our
// own policy holds for every container, and that alert rules and dashboard
// parse and use only metrics that exist. Nothing here needs a cluster; package
// e2e beside it has one.
//
// It is a module of its own, so that the product never depends on Kubernetes.
// The schemas in testdata are cut from those in the modules k8s.io/kubernetes
// and github.com/argoproj/argo-workflows/v3; "go generate" makes them again.
package tests

//go:generate go run ./schemas
