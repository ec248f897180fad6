// A group member on kafkajs. Its "range" is a custom assigner as kafkajs' documentation shows
// one: it says version 1 and writes a subscription without the owned partitions that version 1
// has, because the library's encoder knows version 0 alone. Under any other name it does the same.
const readline = require('readline')
const { Kafka, logLevel, AssignerProtocol, PartitionAssigners } = require('kafkajs')

const flags = {}
for (let at = 2; at + 1 < process.argv.length; at += 2) {
  flags[process.argv[at].slice(2)] = process.argv[at + 1]
}
const write = (event, fields = {}) =>
  console.log(JSON.stringify({ t: Date.now(), event, ...fields }))

const { MemberMetadata, MemberAssignment } = AssignerProtocol
const VERSION = 1

function rangeOf(members, topic, partitions) {
  const takers = members.filter(({ topics }) => topics.includes(topic))
  const floor = Math.floor(partitions.length / takers.length)
  const spare = partitions.length % takers.length
  let next = 0
  return takers.map(({ memberId }, at) => {
    const share = partitions.slice(next, (next += floor + (at < spare ? 1 : 0)))
    return { memberId, share }
  })
}

const documented = name => ({ cluster }) => ({
  name,
  version: VERSION,
  async assign({ members }) {
    const known = members
      .map(({ memberId, memberMetadata }) => ({
        memberId,
        topics: MemberMetadata.decode(memberMetadata).topics,
      }))
      .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
    const given = Object.fromEntries(known.map(({ memberId }) => [memberId, {}]))
    for (const topic of new Set(known.flatMap(({ topics }) => topics))) {
      const partitions = cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b)
      for (const { memberId, share } of rangeOf(known, topic, partitions)) {
        if (share.length) given[memberId][topic] = share
      }
    }
    return known.map(({ memberId }) => ({
      memberId,
      memberAssignment: MemberAssignment.encode({ version: VERSION, assignment: given[memberId] }),
    }))
  },
  protocol({ topics }) {
    const metadata = MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.alloc(0) })
    return { name, metadata }
  },
})

let owned = {}
const pairs = () => Object.entries(owned).filter(([, numbers]) => numbers.length)
const view = () => write('view', { partitions: pairs() })
const drop = event => {
  write(event, { partitions: pairs() })
  owned = {}
}

function report({ topic, partition, messages }) {
  let first = null
  let last = null
  const flush = () => first !== null && write('records', { topic, partition, first, last })
  for (const { value } of messages) {
    const sequence = Number(value.toString())
    if (first === null || sequence !== last + 1) {
      flush()
      first = sequence
    }
    last = sequence
  }
  flush()
}

async function joined(kafka, topics) {
  const consumer = kafka.consumer({
    groupId: flags.group,
    sessionTimeout: Number(flags['session-timeout-ms']),
    heartbeatInterval: Number(flags['heartbeat-ms']),
    rebalanceTimeout: Number(flags['rebalance-timeout-ms']),
    metadataMaxAge: Number(flags['metadata-max-age-ms']),
    maxWaitTimeInMs: 200,
    partitionAssigners: flags.assignors
      .split(',')
      .map(name => (name === 'roundrobin' ? PartitionAssigners.roundRobin : documented(name))),
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    if (pairs().length) drop('revoked')
    owned = payload.memberAssignment || {}
    write('assigned', { partitions: pairs() })
  })
  consumer.on(consumer.events.REBALANCING, () => drop('revoked'))
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    write('error', { text: String(payload.error) })
    drop('lost')
  })
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({
    autoCommitThreshold: 1,
    eachBatch: async ({ batch }) => report(batch),
  })
  return consumer
}

async function main() {
  const kafka = new Kafka({
    clientId: flags['client-id'],
    brokers: [flags.bootstrap],
    logLevel: logLevel.ERROR,
    logCreator: () => ({ log }) =>
      write('error', { text: `${log.message} ${log.error || ''}`.slice(0, 300) }),
  })
  write('started')
  let consumer = await joined(kafka, flags.topics.split(','))
  setInterval(view, 400)
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, rest] = line.split(' ')
    if (command === 'view') view()
    if (command === 'close') break
    if (command === 'subscribe') {
      // kafkajs subscribes before run() alone: another subscription is another consumer
      await consumer.disconnect()
      drop('revoked')
      consumer = await joined(kafka, rest.split(','))
    }
  }
  await consumer.disconnect()
  if (pairs().length) drop('revoked')
  write('closed')
  process.exit(0)
}

main().catch(error => {
  write('error', { text: String(error) })
  process.exit(2)
})
