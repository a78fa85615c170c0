import { interruptionMatrix, type Line } from './matrix.ts';
import { scenarios, type ScenarioName } from './scenarios.ts';

const pushes = /^PUSH agent/;
const all = /./;

/** One line for each "If interrupted" of the design; then cases that the design does not mention. */
const lines: readonly Line<ScenarioName>[] = [
  {
    says: 'CreateAndAssignPort 1, create the port: it is cleaned up',
    calls: {
      'a Service is mapped to a new port': /^(POST network ports|PUT network ports\/ID\/tags)/,
    },
  },
  {
    says: 'CreateAndAssignPort 2, assign a floating IP: the port is cleaned up, the floating IP too',
    calls: {
      'a Service is mapped to a new port':
        /^(POST network floatingips|PUT network floatingips\/ID\/tags)/,
    },
  },
  {
    says: 'UpdateAgents 2, send the request to all agents: the initial sync sends it',
    calls: {
      'a Service is mapped to a new port': pushes,
      'a Service is mapped to an existing port': pushes,
      'a Service changes its ports and has to move': pushes,
      'a Service is deleted, and its port with it': pushes,
      'a Service is deleted, and another stays on its port': pushes,
      'a managed Service can no longer be managed': pushes,
    },
  },
  {
    says: 'UpdateAgents 3, add errors and events to the Services: the initial sync does',
    calls: { 'a gateway rejects a Service': all },
  },
  {
    says: 'MapService 1, check whether the current port can satisfy: the Service may hop',
    calls: {
      'a Service changes its ports and stays': all,
      'a Service changes its ports and has to move': all,
    },
  },
  {
    says: 'MapService 2, search for a port that fits: the Service is mapped',
    calls: {
      'a Service is mapped to a new port': /^PATCH services default/,
      'a Service is mapped to an existing port': /^PATCH services default/,
    },
  },
  {
    says: 'MapService 3, assign the port and set the address: the annotation is found, and the rest is done',
    calls: {
      'a Service is mapped to a new port': /^PATCH services\/status/,
      'a Service is mapped to an existing port': /^PATCH services\/status/,
    },
  },
  {
    says: 'UnmapService 1, remove the annotation: mappings and ports are cleaned up',
    calls: {
      'a Service is deleted, and its port with it': /^PATCH services/,
      'a Service is deleted, and another stays on its port': /^PATCH services/,
    },
  },
  {
    says: 'CleanUnusedPorts 3, delete unused ports: the next clean-up does',
    calls: {
      'a Service is deleted, and its port with it':
        /^(ASK agent|GET network floatingips|DELETE network ports)/,
    },
  },
  {
    says: 'CleanUnusedPorts 5, remove unassociated floating IPs: the next clean-up does',
    calls: { 'a Service is deleted, and its port with it': /^DELETE network floatingips/ },
  },
  {
    says: 'AddFunc, a Service that can no longer be managed is unmapped at the initial sync',
    calls: { 'a controller starts after Services were created and deleted': all },
  },
  {
    says: 'UpdateFunc, a Service that can no longer be managed is unmapped: the initial sync continues',
    calls: { 'a managed Service can no longer be managed': all },
  },
  {
    says: 'the initial sync itself is interrupted',
    calls: { 'a controller starts and nothing is to do': all },
  },
  {
    says: 'the initial sync finds an annotation that a user wrote, and is interrupted: no Service loses its address',
    calls: { "a controller starts after a user copied another Service's annotations": all },
  },
  {
    says: 'an Event is interrupted: the Service is not affected',
    calls: {
      'a Service is mapped to a new port': /events/,
      'a Service is mapped to an existing port': /events/,
      'a Service is deleted, and its port with it': /events/,
      'a Service is deleted, and another stays on its port': /events/,
    },
  },
  {
    says: 'the next controller writes the state of the gateways again, and keeps the record of ports',
    calls: {
      'a Service is mapped to a new port': /configmaps/,
      'a Service is mapped to an existing port': /configmaps/,
      'a Service is deleted, and its port with it': /configmaps/,
      'a Service is deleted, and another stays on its port': /configmaps/,
    },
  },
  {
    says: 'the recovery of a lost port is interrupted',
    calls: { 'a port and its floating IP are lost': all },
  },
];

interruptionMatrix(scenarios, lines);
