//go:build darwin && cgo

#import <Foundation/Foundation.h>
#import <UserNotifications/UserNotifications.h>

#include <string.h>

#include "center_darwin.h"

static NSString *const plain = @"fairlead-review";
static NSString *const deniable = @"fairlead-deny";
static NSString *const allowable = @"fairlead-allow";

static void tell(NSString *what, NSString *name) {
    fairleadTell((char *)[what UTF8String], (char *)[name UTF8String]);
}

static NSString *text(const char *s) {
    NSString *t = [NSString stringWithUTF8String:s];
    return t != nil ? t : @"";
}

@interface FairleadListener : NSObject <UNUserNotificationCenterDelegate>
@end

@implementation FairleadListener

// By default no notifications are shown while the program is in front. Ours are for windows without
// the focus and must be shown; those of libraries keep the default.
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
       willPresentNotification:(UNNotification *)notification
         withCompletionHandler:(void (^)(UNNotificationPresentationOptions options))done {
    NSString *category = notification.request.content.categoryIdentifier;
    if ([category isEqualToString:plain] || [category isEqualToString:deniable] || [category isEqualToString:allowable]) {
        done(UNNotificationPresentationOptionBanner | UNNotificationPresentationOptionList | UNNotificationPresentationOptionSound);
    } else {
        done(UNNotificationPresentationOptionNone);
    }
}

- (void)userNotificationCenter:(UNUserNotificationCenter *)center
    didReceiveNotificationResponse:(UNNotificationResponse *)response
             withCompletionHandler:(void (^)(void))done {
    NSString *what = response.actionIdentifier;
    if ([what isEqualToString:UNNotificationDefaultActionIdentifier]) {
        what = @"default";
    }
    tell(what, response.notification.request.identifier);
    done();
}

@end

static FairleadListener *listener; // the center has only a weak reference

bool fairleadBundled(void) {
    @autoreleasepool {
        return [[NSBundle mainBundle] bundleIdentifier] != nil;
    }
}

void fairleadOpen(const char *review, const char *allow, const char *deny) {
    @autoreleasepool {
        UNUserNotificationCenter *center = [UNUserNotificationCenter currentNotificationCenter];
        UNNotificationAction *look = [UNNotificationAction actionWithIdentifier:text(review)
                                                                          title:@"Review"
                                                                        options:UNNotificationActionOptionForeground];
        // An answer requires an unlocked screen.
        UNNotificationAction *yes = [UNNotificationAction actionWithIdentifier:text(allow)
                                                                         title:@"Allow once"
                                                                       options:UNNotificationActionOptionAuthenticationRequired];
        UNNotificationAction *no = [UNNotificationAction actionWithIdentifier:text(deny)
                                                                        title:@"Deny"
                                                                      options:UNNotificationActionOptionAuthenticationRequired];
        [center setNotificationCategories:[NSSet setWithObjects:
            [UNNotificationCategory categoryWithIdentifier:plain actions:@[look] intentIdentifiers:@[] options:UNNotificationCategoryOptionNone],
            [UNNotificationCategory categoryWithIdentifier:deniable actions:@[no, look] intentIdentifiers:@[] options:UNNotificationCategoryOptionNone],
            [UNNotificationCategory categoryWithIdentifier:allowable actions:@[yes, no, look] intentIdentifiers:@[] options:UNNotificationCategoryOptionNone],
            nil]];
        listener = [FairleadListener new];
        center.delegate = listener;
        [center removeAllDeliveredNotifications]; // of an earlier run, no longer relevant
    }
}

void fairleadClose(void) {
    @autoreleasepool {
        UNUserNotificationCenter *center = [UNUserNotificationCenter currentNotificationCenter];
        if (center.delegate == listener) {
            center.delegate = nil;
        }
        listener = nil;
    }
}

static bool answered(dispatch_semaphore_t sign, int64_t ms) {
    return dispatch_semaphore_wait(sign, dispatch_time(DISPATCH_TIME_NOW, ms * (int64_t)NSEC_PER_MSEC)) == 0;
}

int fairleadRights(int64_t ms, int *style) {
    @autoreleasepool {
        __block int status = -1;
        __block int alerts = 0;
        dispatch_semaphore_t sign = dispatch_semaphore_create(0);
        [[UNUserNotificationCenter currentNotificationCenter] getNotificationSettingsWithCompletionHandler:^(UNNotificationSettings *settings) {
            status = (int)settings.authorizationStatus;
            alerts = (int)settings.alertStyle;
            dispatch_semaphore_signal(sign);
        }];
        if (!answered(sign, ms)) {
            return -1;
        }
        *style = alerts;
        return status;
    }
}

void fairleadAsk(const char *yes, const char *no, const char *failed) {
    @autoreleasepool {
        NSString *granted = text(yes), *refused = text(no), *none = text(failed);
        [[UNUserNotificationCenter currentNotificationCenter] requestAuthorizationWithOptions:UNAuthorizationOptionAlert | UNAuthorizationOptionSound
                                                                            completionHandler:^(BOOL allowed, NSError *error) {
            tell(allowed ? granted : error == nil ? refused : none, @"");
        }];
    }
}

char *fairleadPost(const char *name, const char *title, const char *body, bool allow, bool deny, bool sound, int64_t ms) {
    @autoreleasepool {
        __block NSString *why = nil;
        dispatch_semaphore_t sign = dispatch_semaphore_create(0);
        UNMutableNotificationContent *content = [UNMutableNotificationContent new];
        content.title = text(title);
        content.body = text(body);
        content.categoryIdentifier = allow ? allowable : deny ? deniable : plain;
        content.sound = sound ? [UNNotificationSound defaultSound] : nil;
        UNNotificationRequest *request = [UNNotificationRequest requestWithIdentifier:text(name) content:content trigger:nil];
        [[UNUserNotificationCenter currentNotificationCenter] addNotificationRequest:request
                                                               withCompletionHandler:^(NSError *error) {
            if (error != nil) {
                why = error.localizedDescription;
            }
            dispatch_semaphore_signal(sign);
        }];
        if (!answered(sign, ms)) {
            return strdup("macOS does not answer");
        }
        return why == nil ? NULL : strdup([why UTF8String]);
    }
}

void fairleadTake(const char *name) {
    @autoreleasepool {
        NSArray<NSString *> *names = @[text(name)];
        UNUserNotificationCenter *center = [UNUserNotificationCenter currentNotificationCenter];
        [center removePendingNotificationRequestsWithIdentifiers:names];
        [center removeDeliveredNotificationsWithIdentifiers:names];
    }
}
