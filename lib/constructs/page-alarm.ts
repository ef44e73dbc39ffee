import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import { isWatched, type Alarms } from './alarms.ts';

/**
 * One alarm for the pager: it rings as long as any alarm of severity `page` does, and once for all that ring together. To be
 * made after everything that has alarms.
 */
export class PageAlarm extends Construct {
  constructor(scope: Construct, id: string, { alarms }: { readonly alarms: Alarms }) {
    super(scope, id);
    if (!isWatched(alarms)) return;
    const alarm = new cloudwatch.CompositeAlarm(this, 'Alarm', {
      compositeAlarmName: this.node.path,
      alarmDescription:
        '[page] Customers are affected: look which alarms ring, and begin with the one that says most about the cause. ' +
        `${alarms.runbookUrl}#which-alarm-first`,
      alarmRule: cloudwatch.AlarmRule.anyOf(
        ...alarms.pages.map((page) => cloudwatch.AlarmRule.fromAlarm(page, cloudwatch.AlarmState.ALARM)),
      ),
    });
    const action = new SnsAction(alarms.topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}
