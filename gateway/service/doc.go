// Package service publishes apps of machines under addresses of their own: what is published, where
// its requests go, and who may visit it.
package service
